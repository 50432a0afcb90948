import { AppendOutcomeUnknown, LogUnavailable } from '../../src/event-log/errors.js';
import {
  EventLog,
  type Append,
  type Appended,
  type AppendOutcome,
  type ExpectedRevision,
  type LogItem,
  type NewEvent,
  type StoredEvent,
} from '../../src/event-log/event-log.js';

/**
 * What happens to an append on the way to the log and back:
 * - `lost_request`: it never arrives, and the writer cannot know
 * - `lost_answer`: it is stored, and the writer cannot know
 * - `unreachable`: it never arrives, and the writer knows
 * - `unreadable_after`: it is stored and answered, and the next read of a stream fails
 */
export type Fault = 'lost_request' | 'lost_answer' | 'unreachable' | 'unreadable_after';

/** A real log behind a bad connection: each fault happens to one append, in order. */
export class FaultyLog extends EventLog {
  /** What was sent, whether it arrived or not. */
  readonly sent: (readonly NewEvent[])[] = [];
  private readonly faults: Fault[] = [];
  private unreadable = false;
  private itemsPerSubscription = Infinity;

  constructor(private readonly log: EventLog) {
    super();
  }

  next(...faults: Fault[]): void {
    this.faults.push(...faults);
  }

  /** From now on the connection of every subscription breaks after so many items. */
  breakSubscriptionsAfter(items: number): void {
    this.itemsPerSubscription = items;
  }

  async append(stream: string, events: readonly NewEvent[], options: { expected: ExpectedRevision }): Promise<Appended> {
    this.sent.push(events);
    const fault = this.faults.shift();
    switch (fault) {
      case undefined:
        return this.log.append(stream, events, options);
      case 'lost_request':
        throw new AppendOutcomeUnknown('no answer');
      case 'lost_answer':
        await this.log.append(stream, events, options);
        throw new AppendOutcomeUnknown('no answer');
      case 'unreachable':
        throw new LogUnavailable('no connection');
      case 'unreadable_after':
        this.unreadable = true;
        return this.log.append(stream, events, options);
      default:
        return fault satisfies never;
    }
  }

  /** Faults happen to one append of many as to a single one. */
  async appendMany(appends: readonly Append[]): Promise<AppendOutcome[]> {
    if (this.faults.length === 0) return this.log.appendMany(appends);
    return Promise.all(
      appends.map(({ stream, events, expected }) =>
        this.append(stream, events, { expected }).then(
          (appended) => ({ appended }),
          (error: unknown) => ({ error: error as Error }),
        ),
      ),
    );
  }

  async *readStream(stream: string, options?: { from?: bigint; limit?: number }): AsyncIterable<StoredEvent> {
    const failing = this.unreadable;
    this.unreadable = false;
    if (failing) throw new LogUnavailable('no connection');
    yield* this.log.readStream(stream, options);
  }

  readAll(options: { after: bigint; prefix: string; until?: bigint }): AsyncIterable<StoredEvent> {
    return this.log.readAll(options);
  }

  async *subscribe(options: { after: bigint; prefix: string; signal: AbortSignal }): AsyncIterable<LogItem> {
    let left = this.itemsPerSubscription;
    for await (const item of this.log.subscribe(options)) {
      if (left === 0) throw new LogUnavailable('no connection');
      left -= 1;
      yield item;
    }
  }

  head(): Promise<bigint> {
    return this.log.head();
  }
}
