import type { DelayBounds } from '../../src/backoff.js';

/** Between attempts while something is down. */
export const outagePauses: DelayBounds = { first: 50, longest: 5_000 };

/** One at a time, in the order they came. */
export class Gate {
  private last: Promise<unknown> = Promise.resolve();

  pass<T>(work: () => Promise<T>): Promise<T> {
    const result = this.last.then(work);
    this.last = result.catch(() => undefined);
    return result;
  }
}

/** Wakes everybody who waits. */
export class Bell {
  private readonly waiting = new Set<() => void>();
  private count = 0;

  /** Note it before looking, so that no ring between the look and the wait is lost. */
  get rings(): number {
    return this.count;
  }

  ring(): void {
    this.count++;
    for (const wake of [...this.waiting]) wake();
  }

  /** Resolves at the first ring after `since`, after `milliseconds`, or when the signal aborts. */
  async next(since: number, milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (this.count > since || signal?.aborted) return;
    await new Promise<void>((resolve) => {
      const wake = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', wake);
        this.waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, milliseconds);
      signal?.addEventListener('abort', wake, { once: true });
      this.waiting.add(wake);
    });
  }
}

const windowMs = 10_000;

/** Speed over the last ten seconds. */
export class Meter {
  private samples: { at: number; events: number; position: bigint }[] = [];

  /** @param position the position reached after these events */
  add(events: number, position: bigint, now: number = performance.now()): void {
    this.samples.push({ at: now, events, position });
    this.forget(now);
  }

  /** Events and positions a second. */
  rates(now: number = performance.now()): { events: number; positions: number } {
    this.forget(now);
    const [first] = this.samples;
    const last = this.samples.at(-1);
    if (!first || !last) return { events: 0, positions: 0 };
    // At least a second: two batches a millisecond apart are no rate.
    const seconds = Math.max(1, (now - first.at) / 1000);
    const events = this.samples.reduce((sum, sample) => sum + sample.events, 0);
    return { events: events / seconds, positions: Number(last.position - first.position) / seconds };
  }

  private forget(now: number): void {
    const old = this.samples.findIndex(({ at }) => at >= now - windowMs);
    this.samples.splice(0, old === -1 ? this.samples.length : old);
  }
}
