import { openNoteLog, type NoteLog } from '../../test/support/note-log.js';
import { contextOf, noteFiled, noteStream, noteStreamName, noteTaken, team, type NoteEvent } from '../../test/support/notes.js';
import { redacted } from './domain-event.js';
import { verifyChain } from './hash-chain.js';
import { newCommandId } from './ids.js';

describe('streams', () => {
  let notes: NoteLog;
  beforeAll(async () => (notes = await openNoteLog()));
  afterAll(() => notes.close());

  const load = (id: string) => notes.streams.load<NoteEvent>(noteStream(id));

  it('are empty before their first event', async () => {
    const id = newCommandId();
    expect(await load(id)).toEqual({ name: noteStreamName(id), events: [], revision: 'no_stream', lastHash: undefined });
  });

  it('give back what was appended to them, in one hash chain over all appends', async () => {
    const id = newCommandId();
    await notes.streams.append(await load(id), [noteTaken(id, 'one'), noteFiled(id)], contextOf());
    const occurredAt = new Date('2025-06-01T00:00:00.000Z');
    const appended = await notes.streams.append(await load(id), [noteTaken(id, 'two')], contextOf(), occurredAt);
    const loaded = await load(id);
    expect(loaded.events.map(({ data }) => data)).toEqual([noteTaken(id, 'one'), noteFiled(id), noteTaken(id, 'two')]);
    expect(loaded.events.at(-1)).toMatchObject({ ...appended, metadata: { occurredAt, hash: loaded.lastHash } });
    expect(loaded.revision).toBe(2n);
    expect(verifyChain(await notes.stored(id))).toBeUndefined();
  });

  it('take no append that was decided on an older state', async () => {
    const id = newCommandId();
    const stale = await load(id);
    await notes.streams.append(stale, [noteTaken(id, 'first')], contextOf());
    await expect(notes.streams.append(stale, [noteTaken(id, 'late')], contextOf())).rejects.toMatchObject({
      code: 'wrong_expected_revision',
      actual: 0n,
    });
  });

  it('take the events of one of two runs of a command, and tell the other that they are not its own', async () => {
    const id = newCommandId();
    const loaded = await load(id);
    const context = contextOf();
    await notes.streams.append(loaded, [noteTaken(id, 'as the first run saw it')], context);
    await expect(notes.streams.append(loaded, [noteTaken(id, 'as the second run saw it')], context)).rejects.toMatchObject({
      code: 'wrong_expected_revision',
      actual: 0n,
    });
    expect((await load(id)).events.map(({ data }) => data)).toEqual([noteTaken(id, 'as the first run saw it')]);
  });

  it('do not report as failed what was stored when the log goes away right after', async () => {
    const id = newCommandId();
    const loaded = await load(id);
    notes.log.next('unreadable_after');
    expect(await notes.streams.append(loaded, [noteTaken(id, 'x')], contextOf())).toMatchObject({ revision: 0n });
  });

  it('stay readable and can be continued after their content was erased', async () => {
    const id = newCommandId();
    await notes.streams.append(await load(id), [noteTaken(id, 'gone soon')], contextOf());
    await notes.keys.destroy(team, id);
    await notes.streams.append(await load(id), [noteFiled(id)], contextOf());
    const { events } = await load(id);
    expect(events.map(({ data }) => data)).toEqual([{ ...noteTaken(id, ''), sealed: redacted }, noteFiled(id)]);
    expect(verifyChain(await notes.stored(id))).toBeUndefined();
  });

  it('send nothing that cannot be encoded', async () => {
    const id = newCommandId();
    const unencodable = { ...noteTaken(id, 'x'), pages: Number.NaN };
    await expect(notes.streams.append(await load(id), [unencodable], contextOf())).rejects.toMatchObject({
      code: 'event_not_encodable',
    });
    expect(await notes.stored(id)).toEqual([]);
  });

  describe('after an append of unknown outcome', () => {
    it.each(['lost_request', 'lost_answer'] as const)('send the identical events again (%s)', async (fault) => {
      const id = newCommandId();
      const loaded = await load(id);
      const before = notes.log.sent.length;
      notes.log.next(fault);
      expect(await notes.streams.append(loaded, [noteTaken(id, 'x'), noteFiled(id)], contextOf())).toMatchObject({
        revision: 1n,
      });
      const [first, second, ...more] = notes.log.sent.slice(before);
      expect(second).toEqual(first);
      expect(more).toEqual([]);
      expect(await notes.stored(id)).toHaveLength(2);
    });

    it('give up after three more, and say that the outcome is unknown even when the log is unreachable by then', async () => {
      const id = newCommandId();
      const loaded = await load(id);
      const before = notes.log.sent.length;
      notes.log.next('lost_answer', 'lost_request', 'unreachable', 'unreachable');
      await expect(notes.streams.append(loaded, [noteTaken(id, 'x')], contextOf())).rejects.toMatchObject({
        code: 'append_outcome_unknown',
      });
      expect(notes.log.sent.length - before).toBe(4);
    });

    it('say so when another writer was faster', async () => {
      const id = newCommandId();
      const loaded = await load(id);
      notes.log.next('lost_request');
      const late = notes.streams.append(loaded, [noteTaken(id, 'late')], contextOf());
      await notes.streams.append(loaded, [noteTaken(id, 'first')], contextOf());
      await expect(late).rejects.toMatchObject({ code: 'wrong_expected_revision' });
    });
  });

  describe('many at once', () => {
    const appends = async (ids: readonly string[], text = 'x') =>
      Promise.all(ids.map(async (id) => ({ stream: await load(id), events: [noteTaken(id, text)], context: contextOf() })));
    const newIds = () => [newCommandId(), newCommandId(), newCommandId()] as const;
    const texts = async (id: string) =>
      (await load(id)).events.map(({ data }) => (data.type === 'NoteTaken' && 'text' in data.sealed ? data.sealed.text : ''));

    it('take what was appended to each, in the order given', async () => {
      const ids = newIds();
      const outcomes = await notes.streams.appendMany(await appends(ids));
      expect(outcomes).toEqual(ids.map(() => ({ appended: { revision: 0n, position: expect.any(BigInt) as bigint } })));
      for (const id of ids) {
        expect(await texts(id)).toEqual(['x']);
        expect(verifyChain(await notes.stored(id))).toBeUndefined();
      }
    });

    it('are none when there is nothing to append', async () => expect(await notes.streams.appendMany([])).toEqual([]));

    it('go on where one was decided on an older state, or cannot be encoded', async () => {
      const [stale, unencodable, fine] = newIds();
      const [first, second, third] = await appends([stale, unencodable, fine], 'late');
      if (!first || !second || !third) throw new Error('three streams, three appends');
      await notes.streams.append(await load(stale), [noteTaken(stale, 'first')], contextOf());
      const broken = { ...second, events: [{ ...noteTaken(unencodable, 'x'), pages: Number.NaN }] };
      const outcomes = await notes.streams.appendMany([first, broken, third]);
      expect(outcomes).toMatchObject([
        { error: { code: 'wrong_expected_revision' } },
        { error: { code: 'event_not_encodable' } },
        { appended: { revision: 0n } },
      ]);
      expect([await texts(stale), await texts(unencodable), await texts(fine)]).toEqual([['first'], [], ['late']]);
    });

    it('go on where the key of one was destroyed, and make keys for the others', async () => {
      const [first, gone, last] = newIds();
      await notes.keys.destroy(team, gone);
      const outcomes = await notes.streams.appendMany(await appends([first, gone, last]));
      expect(outcomes).toMatchObject([
        { appended: { revision: 0n } },
        { error: { code: 'key_erased' } },
        { appended: { revision: 0n } },
      ]);
      expect([await texts(first), await texts(gone), await texts(last)]).toEqual([['x'], [], ['x']]);
    });

    it('tell a run of a command that the events of its other run are not its own', async () => {
      const id = newCommandId();
      const stream = await load(id);
      const context = contextOf();
      await notes.streams.append(stream, [noteTaken(id, 'first run')], context);
      const outcomes = await notes.streams.appendMany([{ stream, events: [noteTaken(id, 'second run')], context }]);
      expect(outcomes).toMatchObject([{ error: { code: 'wrong_expected_revision' } }]);
    });

    it.each(['lost_request', 'lost_answer'] as const)('send again the one whose outcome is unknown (%s)', async (fault) => {
      const ids = newIds();
      notes.log.next(fault);
      expect(await notes.streams.appendMany(await appends(ids))).toMatchObject(ids.map(() => ({ appended: { revision: 0n } })));
      for (const id of ids) expect(await texts(id)).toEqual(['x']);
    });

    it('say of each that could not be sent that it was not', async () => {
      const ids = newIds();
      notes.log.next('unreachable');
      const outcomes = await notes.streams.appendMany(await appends(ids));
      expect(outcomes).toMatchObject([
        { error: { code: 'log_unavailable' } },
        { appended: { revision: 0n } },
        { appended: { revision: 0n } },
      ]);
    });
  });

  it('do not send again what certainly did not arrive', async () => {
    const id = newCommandId();
    const loaded = await load(id);
    const before = notes.log.sent.length;
    notes.log.next('unreachable');
    await expect(notes.streams.append(loaded, [noteTaken(id, 'x')], contextOf())).rejects.toMatchObject({
      code: 'log_unavailable',
    });
    expect(notes.log.sent.length - before).toBe(1);
  });
});
