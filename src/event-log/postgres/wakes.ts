/** Lets subscriptions sleep until something was appended here, or a while has passed. */
export class Wakes {
  private readonly sleepers = new Set<() => void>();
  private count = 0;

  /** Grows with every wake: note it before looking, so that no wake between the look and the sleep is lost. */
  get sofar(): number {
    return this.count;
  }

  wake(): void {
    this.count++;
    for (const rise of [...this.sleepers]) rise();
  }

  /** Resolves after `milliseconds`, at the first wake after `since`, or when the signal aborts. */
  async sleep(milliseconds: number, since: number, signal: AbortSignal): Promise<void> {
    if (this.count > since || milliseconds <= 0) return;
    await new Promise<void>((resolve) => {
      const stop = onceAborted(signal, () => rise());
      const timer = setTimeout(() => rise(), milliseconds);
      const rise = () => {
        clearTimeout(timer);
        stop();
        this.sleepers.delete(rise);
        resolve();
      };
      this.sleepers.add(rise);
      if (signal.aborted) rise();
    });
  }
}

/** Resolves after `milliseconds`, or when the signal aborts. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> => new Wakes().sleep(milliseconds, 0, signal);

/** What the work results in, or undefined as soon as the signal aborts; the work's own end is then of no interest. */
export function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise<T | undefined>((resolve, reject) => {
    const stop = onceAborted(signal, () => resolve(undefined));
    if (signal.aborted) resolve(undefined);
    work.then(resolve, reject).finally(stop);
  });
}

/** @returns takes the listener off again, so that a signal that lives as long as the process does not gather them */
function onceAborted(signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}
