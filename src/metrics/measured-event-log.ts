import {
  type Append,
  type Appended,
  type AppendOutcome,
  EventLog,
  type ExpectedRevision,
  type LogItem,
  type NewEvent,
  type StoredEvent,
} from '../event-log/event-log.js';
import type { Metrics } from './metrics.js';

/** An event log whose appends are timed and whose failures are counted, whatever adapter is behind it. */
export class MeasuredEventLog extends EventLog {
  constructor(
    private readonly log: EventLog,
    private readonly metrics: Pick<Metrics, 'appends' | 'logErrors'>,
  ) {
    super();
  }

  async append(stream: string, events: readonly NewEvent[], options: { expected: ExpectedRevision }): Promise<Appended> {
    const end = this.metrics.appends.startTimer();
    try {
      const appended = await this.log.append(stream, events, options);
      end({ outcome: 'appended' });
      return appended;
    } catch (error) {
      end({ outcome: codeOf(error) });
      throw this.counted('append', error);
    }
  }

  async appendMany(appends: readonly Append[]): Promise<AppendOutcome[]> {
    const end = this.metrics.appends.startTimer();
    const outcomes = await this.log.appendMany(appends);
    end({ outcome: 'appended_many' });
    for (const outcome of outcomes) if ('error' in outcome) this.counted('append', outcome.error);
    return outcomes;
  }

  readStream(stream: string, options?: { from?: bigint; limit?: number }): AsyncIterable<StoredEvent> {
    return this.watched('read_stream', this.log.readStream(stream, options));
  }

  readAll(options: { after: bigint; prefix: string; until?: bigint }): AsyncIterable<StoredEvent> {
    return this.watched('read_all', this.log.readAll(options));
  }

  subscribe(options: { after: bigint; prefix: string; signal: AbortSignal }): AsyncIterable<LogItem> {
    return this.watched('subscribe', this.log.subscribe(options));
  }

  async head(): Promise<bigint> {
    return this.log.head().catch((error: unknown) => {
      throw this.counted('head', error);
    });
  }

  private async *watched<T>(operation: string, items: AsyncIterable<T>): AsyncGenerator<T, void, undefined> {
    try {
      yield* items;
    } catch (error) {
      throw this.counted(operation, error);
    }
  }

  private counted(operation: string, error: unknown): unknown {
    this.metrics.logErrors.inc({ operation, code: codeOf(error) });
    return error;
  }
}

/** Codes are ours, a closed set: fit for a label. */
function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[a-z_]{1,40}$/.test(code) ? code : 'other';
}
