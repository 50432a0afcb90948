import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { LogUnavailable } from '../../src/event-log/errors.js';
import type { LogItem, StoredEvent } from '../../src/event-log/event-log.js';

/** Events that follow each other in the log, and the position up to which nothing else is missing. */
export interface Batch {
  readonly events: readonly StoredEvent[];
  readonly position: bigint;
}

/** Cuts a subscription into batches. */
export class LogBatches {
  private readonly items: AsyncIterator<LogItem>;
  private pending: Promise<IteratorResult<LogItem>> | undefined;
  private live = false;

  /** @param wait how long a batch waits for more events while the stored ones are read, milliseconds */
  constructor(
    subscription: AsyncIterable<LogItem>,
    private readonly wait: number,
  ) {
    this.items = subscription[Symbol.asyncIterator]();
  }

  /**
   * The next events, at least one item's worth. Once level with the log it takes what is there without waiting: a writer
   * may be waiting to read what it wrote, and while one batch is applied the next one gathers by itself.
   *
   * @throws LogUnavailable when the subscription ends, or what it throws
   */
  async next(maxEvents: number): Promise<Batch> {
    const events: StoredEvent[] = [];
    let position = this.take(await this.item(), events);
    const enough = new AbortController();
    const over = this.live ? turn() : sleep(this.wait, undefined, { signal: enough.signal }).catch(() => undefined);
    while (events.length < maxEvents) {
      const item = await Promise.race([this.item(), over]);
      if (!item) break;
      const taken = this.take(item, events);
      if (taken > position) position = taken;
    }
    enough.abort();
    return { events, position };
  }

  /** Call after the subscription's signal was aborted. */
  async close(): Promise<void> {
    await this.pending?.catch(() => undefined);
    await this.items.return?.().catch(() => undefined);
  }

  /** The item at hand, which stays so until it is taken. */
  private async item(): Promise<LogItem> {
    this.pending ??= this.items.next();
    const result = await this.pending;
    if (result.done === true) throw new LogUnavailable('the subscription ended');
    return result.value;
  }

  private take(item: LogItem, events: StoredEvent[]): bigint {
    this.pending = undefined;
    switch (item.kind) {
      case 'event':
        events.push(item.event);
        return item.event.position;
      case 'checkpoint':
        return item.position;
      case 'caught_up':
        this.live = true;
        return item.position;
      default:
        return item satisfies never;
    }
  }
}
