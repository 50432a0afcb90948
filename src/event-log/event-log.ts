/**
 * The event log as the rest of the product sees it: ordered streams of immutable events, and one order over all of them.
 * Adapters carry text, never meaning: encryption, hash chain and versions are the codec's business.
 */
export abstract class EventLog {
  /**
   * Appends to one stream, all or nothing.
   *
   * Repeating an append whose events all have the ids that already stand at the expected place succeeds with the first
   * result, even when the stream has moved on since; so an append of unknown outcome may be sent again unchanged.
   *
   * @throws WrongExpectedRevision, AppendTooLarge, AppendOutcomeUnknown, LogUnavailable, StreamTombstoned, AccessDenied
   */
  abstract append(stream: string, events: readonly NewEvent[], options: { expected: ExpectedRevision }): Promise<Appended>;

  /** Many appends at once, each stream for itself: one that is refused does not stop the others. Results in the order given. */
  abstract appendMany(appends: readonly Append[]): Promise<AppendOutcome[]>;

  /** The events of one stream in revision order, from `from` (default 0) on, at most `limit`; empty when there is no such stream. */
  abstract readStream(stream: string, options?: { from?: bigint; limit?: number }): AsyncIterable<StoredEvent>;

  /** All events whose stream name starts with `prefix`, in position order, after `after` (exclusive) and up to `until` (inclusive). */
  abstract readAll(options: { after: bigint; prefix: string; until?: bigint }): AsyncIterable<StoredEvent>;

  /**
   * The same from `after` on without end: stored events first, then each new one as it comes. Ends only when `signal`
   * aborts; anything else that stops it throws LogUnavailable, and the caller subscribes again.
   */
  abstract subscribe(options: { after: bigint; prefix: string; signal: AbortSignal }): AsyncIterable<LogItem>;

  /** Position of the last event of the whole log; -1 when it is empty. */
  abstract head(): Promise<bigint>;
}

/** An event to append. `data` and `metadata` are JSON texts, stored byte for byte. */
export interface NewEvent {
  /** UUID, unique in its stream. */
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

export interface StoredEvent extends NewEvent {
  readonly stream: string;
  /** Place in the stream, from 0. */
  readonly revision: bigint;
  /** Place in the whole log; grows, but not by one on every log. */
  readonly position: bigint;
  /** When the log learned it, in whole milliseconds; never falls as the position grows on the PostgreSQL log. */
  readonly recordedAt: Date;
}

/** What the writer believes the stream's last revision to be. */
export type ExpectedRevision = bigint | 'no_stream';

export interface Append {
  readonly stream: string;
  readonly events: readonly NewEvent[];
  readonly expected: ExpectedRevision;
}

/** Revision and position of the last event appended. */
export interface Appended {
  readonly revision: bigint;
  readonly position: bigint;
}

export type AppendOutcome = { readonly appended: Appended } | { readonly error: Error };

export type LogItem =
  | { readonly kind: 'event'; readonly event: StoredEvent }
  /** Everything up to this position has been seen, though the last events may not have been ours. */
  | { readonly kind: 'checkpoint'; readonly position: bigint }
  /** What was stored when the subscription began has been delivered; from here on events come as they are written. */
  | { readonly kind: 'caught_up'; readonly position: bigint };

/** Checked before the wire, bytes of UTF-8 of data and metadata together. */
export const eventSizeLimit = 512 * 1024;
export const appendSizeLimit = 900 * 1024;
