import fc from 'fast-check';
import { Backoff, growingDelay } from './backoff.js';

describe('a growing delay', () => {
  it('doubles from the first to the longest, less a random part of up to a half', () => {
    const bounds = { first: 1_000, longest: 600_000 };
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), (attempt) => {
        const full = Math.min(600_000, 1_000 * 2 ** (attempt - 1));
        const delay = growingDelay(attempt, bounds);
        expect(delay).toBeGreaterThanOrEqual(full / 2);
        expect(delay).toBeLessThanOrEqual(full);
      }),
    );
  });
});

describe('a backoff', () => {
  const never = new AbortController().signal;
  const paused = async (backoff: Backoff, signal = never) => {
    const started = performance.now();
    await backoff.pause(signal);
    return performance.now() - started;
  };

  it('pauses longer each time, and begins anew once it is reset', async () => {
    const backoff = new Backoff({ first: 4, longest: 64 });
    for (let attempt = 1; attempt <= 4; attempt += 1) await backoff.pause(never);
    expect(await paused(backoff)).toBeGreaterThanOrEqual(31);
    backoff.reset();
    const first = await Promise.race([paused(backoff), new Promise((resolve) => setTimeout(() => resolve('long'), 31))]);
    expect(first).not.toBe('long');
  });

  it('ends at once when it is told to stop', async () => {
    const backoff = new Backoff({ first: 60_000, longest: 60_000 });
    const abort = new AbortController();
    const pause = backoff.pause(abort.signal);
    abort.abort();
    await pause;
    await backoff.pause(abort.signal);
  });
});
