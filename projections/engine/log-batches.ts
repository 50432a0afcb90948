import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { LogUnavailable } from '../../src/event-log/errors.js';
import type { LogItem, StoredEvent } from '../../src/event-log/event-log.js';

/** Events that follow each other in the log, and the position up to which nothing else is missing. */
export interface Batch {
  readonly events: readonly StoredEvent[];
  readonly position: bigint;
}

/** Text of a batch's events at most, about: it is decoded and written whole. An event may have half a megabyte. */
const batchCharacters = 8 * 1024 * 1024;

/** Events on their way into a batch. */
export class Gathering {
  private events: StoredEvent[] = [];
  private characters = 0;

  add(event: StoredEvent): void {
    this.events.push(event);
    this.characters += event.data.length + event.metadata.length;
  }

  full(maxEvents: number): boolean {
    return this.events.length >= maxEvents || this.characters >= batchCharacters;
  }

  /** What was gathered; the next batch begins empty. */
  take(): StoredEvent[] {
    const { events } = this;
    this.events = [];
    this.characters = 0;
    return events;
  }
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
    const gathering = new Gathering();
    let position = this.take(await this.item(), gathering);
    const enough = new AbortController();
    const over = this.live ? turn() : sleep(this.wait, undefined, { signal: enough.signal }).catch(() => undefined);
    while (!gathering.full(maxEvents)) {
      const item = await Promise.race([this.item(), over]);
      if (!item) break;
      const taken = this.take(item, gathering);
      if (taken > position) position = taken;
      if (item.kind === 'caught_up') break;
    }
    enough.abort();
    return { events: gathering.take(), position };
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

  private take(item: LogItem, gathering: Gathering): bigint {
    this.pending = undefined;
    switch (item.kind) {
      case 'event':
        gathering.add(item.event);
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

/** Has the next item made while the consumer works on one. */
export async function* oneAhead<Item>(items: AsyncGenerator<Item, void, undefined>): AsyncGenerator<Item, void, undefined> {
  const make = () => {
    const next = items.next();
    next.catch(() => undefined); // thrown at its turn, unless the consumer has left
    return next;
  };
  let next = make();
  try {
    for (;;) {
      const made = await next;
      if (made.done === true) return;
      next = make();
      yield made.value;
    }
  } finally {
    await next.catch(() => undefined);
    await items.return();
  }
}
