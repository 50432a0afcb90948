import { setTimeout as sleep } from 'node:timers/promises';

/** Milliseconds. */
export interface DelayBounds {
  readonly first: number;
  readonly longest: number;
}

/**
 * Doubles with every attempt and is half random, so that those who failed together do not come back together.
 *
 * @param attempt 1 for the first
 * @returns milliseconds
 */
export function growingDelay(attempt: number, { first, longest }: DelayBounds): number {
  const full = Math.min(longest, first * 2 ** Math.min(attempt - 1, 40));
  return full * (0.5 + 0.5 * Math.random());
}

/** Growing pauses between attempts of one thing. */
export class Backoff {
  private attempts = 0;

  constructor(private readonly bounds: DelayBounds) {}

  /** To be called when it succeeded. */
  reset(): void {
    this.attempts = 0;
  }

  /** Returns early when the signal aborts. */
  async pause(signal: AbortSignal): Promise<void> {
    this.attempts += 1;
    await sleep(growingDelay(this.attempts, this.bounds), undefined, { signal }).catch(() => undefined);
  }
}
