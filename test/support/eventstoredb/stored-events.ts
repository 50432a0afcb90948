import { beforeAll, type Place, placeOf } from './place.js';

/** What the writer believes of the stream. */
export type Expected = bigint | 'any' | 'no_stream' | 'stream_exists';

export interface ProposedEvent {
  readonly id: string;
  readonly type: string;
  readonly json: boolean;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
}

export interface StoredEvent extends ProposedEvent {
  readonly stream: string;
  readonly revision: bigint;
  /** Commit and prepare position: the offset of the event in the log, in bytes. */
  readonly position: bigint;
  /** 100 ns ticks since 1970. */
  readonly created: bigint;
}

export type WriteResult =
  | { readonly result: 'written' | 'repeated'; readonly revision: bigint | 'no_stream'; readonly position: bigint | undefined }
  | { readonly result: 'wrong_expected_version'; readonly current: bigint | 'no_stream' }
  | { readonly result: 'stream_deleted' };

/** Revision of the event that ends a tombstoned stream; as `$tb` it hides every event of a deleted one. */
export const deletedRevision = 2n ** 63n - 1n;

/** The log of an EventStoreDB server: streams of immutable events in one order of byte offsets. */
export class StoredEvents {
  readonly all: StoredEvent[] = [];
  private readonly streams = new Map<string, StoredEvent[]>();
  /** First readable revision, by stream, as the `$tb` of its metadata says. */
  private readonly truncatedBefore = new Map<string, bigint>();
  /** Where a record begins, also those that were scavenged. */
  private readonly records = new Set([0n]);
  private readonly listeners = new Set<() => void>();
  /** Where the next event will begin. The log itself begins with records that are no events. */
  end = 236n;

  constructor(private readonly clock: () => Date) {
    // A server has written about itself before the first client comes.
    this.storeJson('$$$stats-127.0.0.1:2113', '$metadata', '{"$maxAge":86400}');
    this.storeJson('$$$scavenges', '$metadata', '{"$maxAge":2592000}');
    this.storeJson('$user-admin', '$UserCreated', '{"loginName":"admin","disabled":false}');
  }

  /** Called after every write. Gives the function that ends it. */
  onWrite(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  append(stream: string, events: readonly ProposedEvent[], expected: Expected): WriteResult {
    const check = this.check(stream, events, expected);
    if (check !== 'store') return check;
    const before = this.lastRevision(stream);
    const first = before === 'no_stream' ? 0n : before + 1n;
    const deleted = this.isDeleted(stream);
    const last = events.map((event, index) => this.store(stream, event, first + BigInt(index))).at(-1);
    // A deleted stream comes back with its new events; what it held before stays hidden.
    if (deleted) this.storeJson(`$$${stream}`, '$metadata', `{"$tb":${first}}`);
    this.written();
    return { result: 'written', revision: last?.revision ?? before, position: last?.position };
  }

  /** Hides the events of a stream from its readers, not from readers of all. New events continue its revisions. */
  delete(stream: string, expected: Expected): WriteResult {
    const refusal = this.refusesDelete(stream, expected);
    if (refusal) return refusal;
    const current = this.lastRevision(stream);
    if (current === 'no_stream' && this.lastRevision(`$$${stream}`) === 'no_stream') {
      return { result: 'wrong_expected_version', current };
    }
    const { position } = this.storeJson(`$$${stream}`, '$metadata', `{"$tb":${deletedRevision}}`);
    this.written();
    return { result: 'written', revision: current, position };
  }

  /** Ends a stream for ever: it can neither be read nor written. Its events stay in all, and one more tells of the end. */
  tombstone(stream: string, expected: Expected): WriteResult {
    const refusal = this.refusesDelete(stream, expected);
    if (refusal) return refusal;
    const end = { id: crypto.randomUUID(), type: '$streamDeleted', json: false, data: nothing, metadata: nothing };
    const { position } = this.store(stream, end, deletedRevision);
    this.written();
    return { result: 'written', revision: deletedRevision, position };
  }

  /** Removes what no reader of a stream can see; of a stream that was deleted its last event stays. */
  scavenge(): void {
    for (const [stream, events] of this.streams) {
      const from = this.isTombstoned(stream) ? deletedRevision : (this.truncatedBefore.get(stream) ?? 0n);
      const left = events.filter((event) => event.revision >= from || event === events.at(-1));
      this.streams.set(stream, left);
    }
    const left = new Set([...this.streams.values()].flat());
    this.all.splice(0, this.all.length, ...this.all.filter((event) => left.has(event)));
  }

  hasRecordAt(position: bigint): boolean {
    return this.records.has(position);
  }

  /** The readable events of a stream in the order of their revisions, or why there are none. */
  stream(stream: string): readonly StoredEvent[] | 'not_found' | 'deleted' {
    const events = this.streams.get(stream) ?? [];
    if (this.isTombstoned(stream)) return 'deleted';
    if (events.length === 0 || this.isDeleted(stream)) return 'not_found';
    return this.visible(stream);
  }

  /** Events that a subscription to the stream sees: with the one that ends the stream, if there is one. */
  visible(stream: string): readonly StoredEvent[] {
    const from = this.truncatedBefore.get(stream) ?? 0n;
    return (this.streams.get(stream) ?? []).filter(({ revision }) => revision >= from);
  }

  lastRevision(stream: string): bigint | 'no_stream' {
    return this.streams.get(stream)?.at(-1)?.revision ?? 'no_stream';
  }

  /** Place of the last event. */
  head(): Place {
    const last = this.all.at(-1);
    return last ? placeOf(last) : beforeAll;
  }

  /** Index in `all` of the first event at or after a position. */
  indexOf(position: bigint): number {
    let [low, high] = [0, this.all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.all[middle]?.position ?? 0n) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private isTombstoned(stream: string): boolean {
    return this.lastRevision(stream) === deletedRevision;
  }

  private isDeleted(stream: string): boolean {
    return this.truncatedBefore.get(stream) === deletedRevision;
  }

  private check(stream: string, events: readonly ProposedEvent[], expected: Expected): WriteResult | 'store' {
    if (this.isTombstoned(stream)) return { result: 'stream_deleted' };
    const current = this.lastRevision(stream);
    const wrong = { result: 'wrong_expected_version', current } as const;
    if (expected === 'stream_exists') {
      if (this.isDeleted(stream)) return { result: 'stream_deleted' };
      if (current === 'no_stream' && this.lastRevision(`$$${stream}`) === 'no_stream') return wrong;
    }
    const stored = this.streams.get(stream) ?? [];
    // Without an expected revision an event counts as repeated wherever in the stream it stands.
    if (expected === 'any' || expected === 'stream_exists') {
      const found = events.map(({ id }) => stored.findLast((event) => event.id === id));
      return found[0] ? (repetition(found) ?? wrong) : 'store';
    }
    const [place, last] = [number(expected), number(current)];
    if (place === last) return 'store';
    if (place > last) return wrong;
    const found = events.map(({ id }, index) => {
      const event = stored.find(({ revision }) => revision === place + 1n + BigInt(index));
      return event?.id === id ? event : undefined;
    });
    if (!found[0] && expected === 'no_stream' && this.isDeleted(stream)) return 'store';
    return repetition(found) ?? wrong;
  }

  private refusesDelete(stream: string, expected: Expected): WriteResult | undefined {
    const check = this.check(stream, [{ id: '', type: '', json: false, data: nothing, metadata: nothing }], expected);
    return check === 'store' ? undefined : check;
  }

  private storeJson(stream: string, type: string, content: string): StoredEvent {
    const event = { id: crypto.randomUUID(), type, json: true, data: Buffer.from(content), metadata: nothing };
    return this.store(stream, event, number(this.lastRevision(stream)) + 1n);
  }

  private store(stream: string, event: ProposedEvent, revision: bigint): StoredEvent {
    const created = BigInt(this.clock().getTime()) * 10_000n;
    const stored: StoredEvent = { ...event, stream, revision, position: this.end, created };
    this.end += BigInt(recordSize(stored));
    this.all.push(stored);
    this.records.add(stored.position);
    const events = this.streams.get(stream);
    if (events) events.push(stored);
    else this.streams.set(stream, [stored]);
    const before = stream.startsWith('$$') ? /"\$tb":\s*(\d+)/.exec(Buffer.from(event.data).toString())?.[1] : undefined;
    if (before !== undefined) this.truncatedBefore.set(stream.slice(2), BigInt(before));
    return stored;
  }

  private written(): void {
    for (const listener of this.listeners) listener();
  }
}

const nothing = new Uint8Array();
const number = (revision: bigint | 'no_stream'): bigint => (revision === 'no_stream' ? -1n : revision);

/** The first result of an append whose events were all found; nothing when some were not. */
function repetition(found: readonly (StoredEvent | undefined)[]): WriteResult | undefined {
  const end = found.at(-1);
  if (!end || found.includes(undefined)) return undefined;
  return { result: 'repeated', revision: end.revision, position: end.position };
}

/** Bytes a record takes in the log: a length before and after it, fixed fields, and what it holds. */
const recordSize = ({ stream, type, data, metadata }: StoredEvent): number =>
  8 + 96 + Buffer.byteLength(stream) + Buffer.byteLength(type) + data.byteLength + metadata.byteLength;
