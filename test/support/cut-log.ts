import { once } from 'node:events';
import { EventLog, type AppendOutcome, type Appended, type LogItem, type StoredEvent } from '../../src/event-log/event-log.js';

/** Another log as it was when this position was its last. */
export class CutLog extends EventLog {
  constructor(
    private readonly whole: EventLog,
    private readonly end: bigint,
  ) {
    super();
  }

  append(): Promise<Appended> {
    return Promise.reject(new Error('the past is not written to'));
  }

  appendMany(): Promise<AppendOutcome[]> {
    return Promise.reject(new Error('the past is not written to'));
  }

  async *readStream(stream: string, options?: { from?: bigint; limit?: number }): AsyncIterable<StoredEvent> {
    for await (const event of this.whole.readStream(stream, options)) if (event.position <= this.end) yield event;
  }

  readAll({ after, prefix, until = this.end }: { after: bigint; prefix: string; until?: bigint }): AsyncIterable<StoredEvent> {
    return this.whole.readAll({ after, prefix, until: until < this.end ? until : this.end });
  }

  async *subscribe(options: { after: bigint; prefix: string; signal: AbortSignal }): AsyncIterable<LogItem> {
    for await (const event of this.readAll(options)) yield { kind: 'event', event };
    yield { kind: 'caught_up', position: this.end };
    if (!options.signal.aborted) await once(options.signal, 'abort');
  }

  head(): Promise<bigint> {
    return Promise.resolve(this.end);
  }
}
