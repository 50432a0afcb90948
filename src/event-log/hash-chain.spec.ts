import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { StoredEvent } from './event-log.js';
import { eventHash, firstPreviousHash, verifyChain } from './hash-chain.js';
import { canonicalJson, type JsonObject } from './json.js';

const stream = 'mneme_test-team_id';

/** A stream whose n-th event holds the n-th data. */
function chained(datas: readonly JsonObject[]): StoredEvent[] {
  let previousHash = firstPreviousHash;
  return datas.map((value, index) => {
    const metadata = { team: 'team', previous_hash: previousHash };
    const event = { stream, revision: BigInt(index), id: `id-${index}`, type: 'Tested', data: canonicalJson(value) };
    const hash = eventHash(previousHash, { ...event, metadata });
    previousHash = hash;
    return { ...event, metadata: canonicalJson({ ...metadata, hash }), position: BigInt(index * 10), recordedAt: new Date(0) };
  });
}

const streams = (minLength: number) =>
  fc
    .array(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue() as fc.Arbitrary<JsonObject>), {
      minLength,
      maxLength: 8,
    })
    .map((datas) => chained(datas.map((data) => JSON.parse(JSON.stringify(data)) as JsonObject)));

describe('the hash chain', () => {
  it('holds for every stream as it was written, and for its end after its beginning', () =>
    fc.assert(
      fc.property(streams(0), fc.nat(7), (events, cut) => {
        expect(verifyChain(events)).toBeUndefined();
        const last = events[cut];
        if (!last) return;
        const { hash } = JSON.parse(last.metadata) as { hash: string };
        expect(verifyChain(events.slice(cut + 1), { revision: last.revision, hash })).toBeUndefined();
      }),
    ));

  it('breaks when any part of any event is changed', () => {
    const edits: ((event: StoredEvent) => StoredEvent)[] = [
      (event) => ({ ...event, data: canonicalJson({ ...(JSON.parse(event.data) as JsonObject), edited: 'yes' }) }),
      (event) => ({ ...event, data: 'not JSON' }),
      (event) => ({ ...event, data: '{"number":1e999}' }),
      (event) => ({ ...event, type: 'Other' }),
      (event) => ({ ...event, id: 'other' }),
      (event) => ({ ...event, stream: 'mneme_test-team_other' }),
      (event) => ({ ...event, revision: event.revision + 1n }),
      (event) => ({ ...event, metadata: event.metadata.replace('"team":"team"', '"team":"other"') }),
      (event) => ({ ...event, metadata: event.metadata.replace(/"hash":"./, '"hash":"x') }),
      (event) => ({ ...event, metadata: event.metadata.replace(/"previous_hash":"./, '"previous_hash":"x') }),
      (event) => ({ ...event, metadata: event.metadata.replace('}', ',"added":"yes"}') }),
      (event) => ({ ...event, metadata: '[]' }),
      (event) => ({ ...event, metadata: '' }),
    ];
    fc.assert(
      fc.property(streams(1), fc.nat(), fc.constantFrom(...edits), (events, place, edit) => {
        const at = place % events.length;
        const edited = events.map((event, index) => (index === at ? edit(event) : event));
        expect(verifyChain(edited)?.revision).toBe(BigInt(at));
      }),
    );
  });

  it('breaks when an event is taken out, whatever stands after it', () =>
    fc.assert(
      fc.property(streams(2), fc.nat(), (events, place) => {
        const at = place % (events.length - 1);
        const renumbered = events.toSpliced(at, 1).map((event, index) => ({ ...event, revision: BigInt(index) }));
        expect(verifyChain(events.toSpliced(at, 1))).toEqual({ revision: BigInt(at), reason: 'missing' });
        expect(verifyChain(renumbered)).toEqual({ revision: BigInt(at), reason: 'unlinked' });
      }),
    ));

  it('breaks when two events change places', () =>
    fc.assert(
      fc.property(streams(2), fc.nat(), fc.nat(), (events, one, other) => {
        const [a, b] = [one % events.length, other % events.length];
        fc.pre(a !== b);
        const swapped = events.map((event, index) => ({
          ...(index === a ? events[b] : index === b ? events[a] : event),
          revision: event.revision,
        })) as StoredEvent[];
        expect(verifyChain(swapped)?.revision).toBe(BigInt(Math.min(a, b)));
      }),
    ));

  it('says what broke', () => {
    const [first, second] = chained([{}, {}]) as [StoredEvent, StoredEvent];
    expect(verifyChain([second])).toEqual({ revision: 0n, reason: 'missing' });
    expect(verifyChain([first, { ...second, data: '{"a":1}' }])).toEqual({ revision: 1n, reason: 'altered' });
    expect(verifyChain([first, { ...second, data: '{' }])).toEqual({ revision: 1n, reason: 'unreadable' });
    expect(verifyChain([{ ...first, metadata: '{}' }])).toEqual({ revision: 0n, reason: 'unlinked' });
  });

  it('is the documented hash, so that others can check it without our code', () => {
    const metadata = { team: 'team', previous_hash: firstPreviousHash };
    const text = `["${'0'.repeat(64)}","s","7","i","t",{"a":1},{"previous_hash":"${'0'.repeat(64)}","team":"team"}]`;
    expect(eventHash(firstPreviousHash, { stream: 's', revision: 7n, id: 'i', type: 't', data: '{"a":1}', metadata })).toBe(
      createHash('sha256').update(text).digest('hex'),
    );
  });

  it('does not depend on how a log lays out the JSON it was given', () => {
    const [event] = chained([{ '10': 1, '9': { b: 1, a: 2 } }]) as [StoredEvent];
    const spaced = { ...event, data: JSON.stringify(JSON.parse(event.data), undefined, 2) };
    expect(spaced.data).not.toBe(event.data);
    expect(verifyChain([spaced])).toBeUndefined();
  });
});
