import fc from 'fast-check';
import { FixedKeys } from '../../test/support/fixed-keys.js';
import {
  contextOf,
  noteCatalogue,
  noteFiled,
  noteStreamName,
  noteTaken,
  prefix,
  storedAs,
  team,
  type NoteEvent,
} from '../../test/support/notes.js';
import { Codec } from './codec.js';
import { redacted, type DomainEvent } from './domain-event.js';
import { EventCatalogue } from './event-catalogue.js';
import type { StoredEvent } from './event-log.js';
import { firstPreviousHash, verifyChain } from './hash-chain.js';
import { deriveEventId, newCommandId } from './ids.js';

const note = newCommandId();
const stream = noteStreamName(note);

describe('the codec', () => {
  const keys = new FixedKeys();
  const codec = new Codec(noteCatalogue, keys, prefix);

  const store = async (events: readonly DomainEvent[], by = codec): Promise<StoredEvent[]> =>
    storedAs(stream, await by.encode(stream, undefined, events, contextOf()));

  /** The first stored event, with its data rewritten. */
  const alter = async (event: DomainEvent, change: (data: string) => string): Promise<StoredEvent> => {
    const [stored] = (await store([event])) as [StoredEvent];
    return { ...stored, data: change(stored.data) };
  };

  it('gives back any open data and any content', async () => {
    const object = () => fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ stringUnit: 'grapheme' }));
    const fields = object().filter((fields) => !('type' in fields) && !('sealed' in fields));
    const content = object().filter((content) => content.redacted !== true);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(fields, fc.option(content))), async (parts) => {
        const events = parts.map(([open, sealed]) => {
          const event = { ...open, note_id: note, ...(sealed && { sealed }), type: 'NoteTaken' };
          return JSON.parse(JSON.stringify(event)) as DomainEvent;
        });
        const decoded = await codec.decode(await store(events));
        expect(decoded.map(({ data }) => data)).toEqual(events);
      }),
    );
  });

  it('writes no content that can be read without the key', async () => {
    const words = fc.stringMatching(/^[a-z]{12,40}$/);
    await fc.assert(
      fc.asyncProperty(words, async (text) => {
        const stored = await store([noteTaken(note, text)]);
        expect(JSON.stringify(stored, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))).not.toContain(
          text,
        );
      }),
    );
  });

  it('stores open fields, one box under its owner, and who caused it', async () => {
    const occurredAt = new Date('2025-12-31T23:59:59.000Z');
    const context = { ...contextOf(), profile: 'p', apiKey: 'k', causationDepth: 2 };
    const [event] = await codec.encode(
      stream,
      undefined,
      [{ ...noteTaken(note, 'hello'), pages: 3 } as NoteEvent],
      context,
      occurredAt,
    );
    expect(event).toMatchObject({ id: deriveEventId(context.commandId, stream, 0), type: 'NoteTaken' });
    expect(JSON.parse(event?.data ?? '')).toEqual({
      note_id: note,
      pages: 3,
      sealed: { [note]: expect.stringMatching(/^A256GCM\.[\w-]+$/) as string },
    });
    expect(JSON.parse(event?.metadata ?? '')).toEqual({
      $correlationId: context.correlationId,
      $causationId: context.commandId,
      causation_depth: '2',
      team,
      profile: 'p',
      api_key: 'k',
      schema_version: '1',
      occurred_at: '2025-12-31T23:59:59.000Z',
      previous_hash: firstPreviousHash,
      hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  it('says where an event stands and who caused it', async () => {
    const context = contextOf();
    const [stored] = storedAs(stream, await codec.encode(stream, undefined, [noteFiled(note)], context)) as [StoredEvent];
    const [event] = await codec.decode<NoteEvent>([stored]);
    expect(event).toEqual({
      stream,
      team,
      kind: 'note',
      streamId: note,
      revision: 0n,
      position: 100n,
      recordedAt: stored.recordedAt,
      eventId: stored.id,
      data: noteFiled(note),
      metadata: {
        correlationId: context.correlationId,
        causationId: context.commandId,
        causationDepth: 0,
        team,
        profile: undefined,
        apiKey: undefined,
        schemaVersion: 1,
        occurredAt: undefined,
        previousHash: firstPreviousHash,
        hash: (JSON.parse(stored.metadata) as { hash: string }).hash,
      },
    });
  });

  it('continues the hash chain of what is stored already', async () => {
    const first = await store([noteTaken(note, 'one'), noteFiled(note)]);
    const [, last] = await codec.decode(first);
    const link = { revision: 1n, hash: last?.metadata.hash ?? '' };
    const next = storedAs(stream, await codec.encode(stream, link, [noteFiled(note), noteTaken(note, 'two')], contextOf()), 1n);
    expect(verifyChain([...first, ...next])).toBeUndefined();
  });

  it('fetches the keys of a whole batch at once, and none when boxes stay shut or there are none', async () => {
    const stored = await store([noteTaken(note, 'one'), noteTaken(newCommandId(), 'two'), noteFiled(note)]);
    const before = keys.fetched.length;
    await codec.decode(stored);
    expect(keys.fetched.length).toBe(before + 1);
    const shut = await codec.decode(stored, { content: false });
    expect(shut[0]?.data).toStrictEqual({ type: 'NoteTaken', note_id: note });
    await codec.decode(stored.slice(2));
    expect(keys.fetched.length).toBe(before + 1);
  });

  it.each<[string, DomainEvent]>([
    ['a field JSON cannot hold', { ...noteTaken(note, 'x'), pages: 1n } as unknown as DomainEvent],
    ['content JSON cannot hold', { ...noteTaken(note, 'x'), sealed: { text: '\ud800' } }],
    ['content that nobody owns', { ...noteFiled(note), sealed: { text: 'x' } }],
    ['content that was erased', { ...noteTaken(note, 'x'), sealed: redacted }],
  ])('refuses %s before it makes a key', async (_, event) => {
    const before = keys.provisioned.length;
    await expect(codec.encode(stream, undefined, [noteTaken(note, 'good'), event], contextOf())).rejects.toMatchObject({
      code: 'event_not_encodable',
      eventType: event.type,
    });
    expect(keys.provisioned.length).toBe(before);
  });

  it('neither writes nor reads a type it does not know', async () => {
    const unknown = { code: 'unknown_event_type', eventType: 'NoteEaten' };
    await expect(codec.encode(stream, undefined, [{ type: 'NoteEaten' }], contextOf())).rejects.toMatchObject(unknown);
    const [stored] = (await store([noteFiled(note)])) as [StoredEvent];
    await expect(codec.decode([{ ...stored, type: 'NoteEaten' }])).rejects.toMatchObject(unknown);
  });

  it('neither writes to nor reads from a stream of another installation', async () => {
    const elsewhere = stream.replace(prefix, 'other_');
    await expect(codec.encode(elsewhere, undefined, [noteFiled(note)], contextOf())).rejects.toMatchObject({
      code: 'event_integrity',
    });
    const [stored] = (await store([noteFiled(note)])) as [StoredEvent];
    await expect(codec.decode([{ ...stored, stream: elsewhere }])).rejects.toMatchObject({ code: 'event_integrity' });
  });

  describe('with events of an older version', () => {
    const newer = new Codec(
      new EventCatalogue([
        {
          NoteTaken: {
            version: 3,
            keyOwner: ({ note_id }: { note_id: string }) => note_id,
            upcasters: [
              ({ pages = 1, ...stored }) => ({ ...stored, length: { pages } }),
              ({ sealed, ...stored }) => ({
                ...stored,
                ...(sealed !== undefined && {
                  sealed: 'text' in (sealed as object) ? { lines: [(sealed as { text: string }).text] } : sealed,
                }),
              }),
            ],
          },
        },
      ]),
      keys,
      prefix,
    );

    it('makes today’s shape of them, content included', async () => {
      const [event] = await newer.decode(await store([noteTaken(note, 'hello')]));
      expect(event?.data).toEqual({ type: 'NoteTaken', note_id: note, length: { pages: 1 }, sealed: { lines: ['hello'] } });
      expect(event?.metadata.schemaVersion).toBe(1);
    });

    it('makes it of open fields alone when boxes stay shut', async () => {
      const [event] = await newer.decode(await store([noteTaken(note, 'hello')]), { content: false });
      expect(event?.data).toEqual({ type: 'NoteTaken', note_id: note, length: { pages: 1 } });
    });

    it('leaves events of today’s version alone', async () => {
      const today = { type: 'NoteTaken', note_id: note, length: { pages: 2 }, sealed: { lines: ['a', 'b'] } };
      const [event] = await newer.decode(await store([today], newer));
      expect(event?.data).toEqual(today);
    });

    it('does not guess at a version that only newer code knows', async () => {
      const stored = await store([noteTaken(note, 'hello')], newer);
      await expect(codec.decode(stored)).rejects.toMatchObject({ code: 'event_from_newer_version', version: 3, known: 1 });
    });
  });

  describe('with events that are not what was written', () => {
    it('does not open a box that came from another event', async () => {
      const [one, other] = (await store([noteTaken(note, 'one'), noteTaken(note, 'other')])) as [StoredEvent, StoredEvent];
      await expect(codec.decode([{ ...one, data: other.data }])).rejects.toMatchObject({ code: 'event_integrity' });
    });

    it('does not open a box under the name of another owner, or in the stream of another memory', async () => {
      const other = newCommandId();
      const renamed = await alter(noteTaken(note, 'x'), (data) => data.replaceAll(note, other));
      await expect(codec.decode([renamed])).rejects.toMatchObject({ code: 'event_integrity' });
      const [stored] = (await store([noteTaken(note, 'x')])) as [StoredEvent];
      await expect(codec.decode([{ ...stored, stream: noteStreamName(other) }])).rejects.toMatchObject({
        code: 'event_integrity',
      });
    });

    it.each<[string, (data: string) => string]>([
      ['cut short', (data) => data.slice(0, -2)],
      ['a list', () => '[]'],
      ['empty', () => ''],
      ['without a box where one belongs', () => '{"sealed":{}}'],
      ['with a box that is a number', () => `{"sealed":{"${note}":1}}`],
      ['with two boxes', () => `{"sealed":{"a":"A256GCM.x","b":"A256GCM.x"}}`],
      ['with nothing where a box belongs', () => `{"sealed":null}`],
    ])('refuses data that are %s, without quoting them', async (_, change) => {
      const stored = await alter(noteTaken(note, 'a secret'), change);
      await expect(codec.decode([stored])).rejects.toMatchObject({
        code: 'event_integrity',
        message: expect.stringMatching(/^a stored event /) as string,
      });
    });

    it.each<[string, unknown]>([
      ['$causationId', undefined],
      ['hash', 7],
      ['schema_version', '0'],
      ['schema_version', '1.5'],
      ['causation_depth', 'deep'],
      ['occurred_at', 'yesterday'],
      ['profile', {}],
    ])('refuses metadata whose %s is %p', async (name, value) => {
      const [stored] = (await store([noteFiled(note)])) as [StoredEvent];
      const metadata = JSON.stringify({ ...(JSON.parse(stored.metadata) as object), [name]: value });
      await expect(codec.decode([{ ...stored, metadata }])).rejects.toMatchObject({ code: 'event_integrity' });
    });
  });
});
