import type { LogItem, StoredEvent } from '../../src/event-log/event-log.js';

/** Reads a subscription in the background and lets a test wait for what comes. */
export class Feed {
  readonly items: LogItem[] = [];
  private readonly abort = new AbortController();
  private readonly ended: Promise<void>;
  private failure: unknown;
  private notify: () => void = () => undefined;

  constructor(subscribe: (signal: AbortSignal) => AsyncIterable<LogItem>) {
    this.ended = this.run(subscribe(this.abort.signal));
  }

  get events(): StoredEvent[] {
    return this.items.flatMap((item) => (item.kind === 'event' ? [item.event] : []));
  }

  get kinds(): LogItem['kind'][] {
    return this.items.map(({ kind }) => kind);
  }

  /** Waits until `found` gives something true, and gives it. @throws what ended the subscription, or after 10 s */
  async until<T>(found: (items: readonly LogItem[]) => T | undefined | false): Promise<T> {
    const deadline = performance.now() + 10_000;
    for (;;) {
      const result = found(this.items);
      if (result !== undefined && result !== false) return result;
      if (this.failure !== undefined) throw this.failure as Error;
      if (performance.now() > deadline) throw new Error(`waited in vain; seen so far: ${this.kinds.join(', ')}`);
      await this.next(deadline - performance.now());
    }
  }

  /** Resolves when the subscription has ended. @throws what ended it, if it was not the signal */
  async stop(): Promise<void> {
    this.abort.abort();
    await this.ended;
    if (this.failure !== undefined) throw this.failure as Error;
  }

  private async next(milliseconds: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.notify = resolve;
      timer = setTimeout(resolve, milliseconds);
    });
    clearTimeout(timer);
  }

  private async run(subscription: AsyncIterable<LogItem>): Promise<void> {
    try {
      for await (const item of subscription) {
        this.items.push(item);
        this.notify();
      }
    } catch (error) {
      this.failure = error;
      this.notify();
    }
  }
}
