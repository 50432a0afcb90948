import { startTimer } from '../timer.js';

/** How long a caller waits for a model, and what makes it stop waiting earlier. */
export interface Wait {
  /** Milliseconds, at least 1; undefined waits for ever. */
  readonly timeoutMs: number | undefined;
  /** The caller's own signal: firing it is the caller's decision, never the model's failure. */
  readonly signal?: AbortSignal | undefined;
}

/** What a caller gets whose own signal fired, whatever reason it fired with. */
export const aborted = (): DOMException => new DOMException('the caller stopped waiting', 'AbortError');

export const isAborted = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && (error as { name?: unknown }).name === 'AbortError';

/**
 * Waits for work until it settles, the time is over, or the caller's signal fires, and then stops waiting even when the
 * work ignores the signal it was given.
 *
 * @throws DOMException `AbortError` when the caller's signal fired, before anything the work throws because of it
 * @throws DOMException `TimeoutError` when the time is over
 */
export async function withDeadline<T>(work: (signal: AbortSignal) => Promise<T>, { timeoutMs, signal }: Wait): Promise<T> {
  if (signal?.aborted) throw aborted();
  const controller = new AbortController();
  let stop: (reason: DOMException) => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    // Rejects first: the work's own rejection, which the abort causes, must not win the race.
    stop = (reason) => {
      reject(reason);
      controller.abort(reason);
    };
  });
  const onAbort = () => stop(aborted());
  const overtime = () => stop(new DOMException('the time is over', 'TimeoutError'));
  const stopTimer = timeoutMs === undefined ? undefined : startTimer(timeoutMs, overtime);
  signal?.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([stopped, invoke(work, controller.signal)]);
  } finally {
    stopTimer?.();
    signal?.removeEventListener('abort', onAbort);
  }
}

/** Turns a synchronous throw into a rejection. */
async function invoke<T>(work: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
  return work(signal);
}
