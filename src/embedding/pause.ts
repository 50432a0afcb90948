/** A wait that can be cut short. An end that comes while nobody waits cuts the next wait short. */
export class Pause {
  private ended = false;
  private finish: (() => void) | undefined;

  /** @returns whether it was cut short */
  async wait(milliseconds: number): Promise<boolean> {
    if (!this.ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.finish = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.finish = undefined;
    }
    const cutShort = this.ended;
    this.ended = false;
    return cutShort;
  }

  end(): void {
    this.ended = true;
    this.finish?.();
  }
}

/**
 * Doubles with every attempt and is half random, so that those who failed together do not come back together.
 *
 * @param attempt 1 for the first
 * @returns milliseconds
 */
export function growingDelay(attempt: number, { first, longest }: { first: number; longest: number }): number {
  const full = Math.min(longest, first * 2 ** Math.min(attempt - 1, 40));
  return full * (0.5 + 0.5 * Math.random());
}
