import fc from 'fast-check';
import { growingDelay, Pause } from './pause.js';

describe('a pause', () => {
  it('lasts as long as it was asked to, unless it is cut short', async () => {
    const pause = new Pause();
    expect(await pause.wait(5)).toBe(false);
    const waiting = pause.wait(60_000);
    pause.end();
    expect(await waiting).toBe(true);
  });

  it('is cut short by an end that came before it, once', async () => {
    const pause = new Pause();
    pause.end();
    pause.end();
    expect(await pause.wait(60_000)).toBe(true);
    expect(await pause.wait(5)).toBe(false);
  });
});

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
