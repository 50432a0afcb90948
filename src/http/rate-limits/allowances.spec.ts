import fc from 'fast-check';
import { Allowances } from './allowances.js';

describe('an allowance', () => {
  let time = 0;
  const open = (most?: number) => new Allowances(most, () => time);
  const sixty = { limit: 60, windowMs: 60_000 };
  beforeEach(() => (time = 1_000_000));

  it('may be used at once, then refills evenly', () => {
    const allowances = open();
    const spend = () => allowances.spend('a', sixty);
    for (let left = 59; left >= 0; left -= 1) expect(spend()).toMatchObject({ allowed: true, remaining: left });
    expect(spend()).toEqual({ allowed: false, remaining: 0, retryAfterMs: 1_000, wholeAfterMs: 60_000 });
    time += 999;
    expect(spend()).toMatchObject({ allowed: false, retryAfterMs: 1 });
    time += 1;
    expect(spend()).toMatchObject({ allowed: true, remaining: 0 });
    time += 60_000;
    expect(spend()).toMatchObject({ allowed: true, remaining: 59, wholeAfterMs: 1_000 });
  });

  it('is one tracker’s own', () => {
    const allowances = open();
    const one = { limit: 1, windowMs: 60_000 };
    expect([allowances.spend('a', one).allowed, allowances.spend('a', one).allowed]).toEqual([true, false]);
    expect(allowances.spend('b', one).allowed).toBe(true);
  });

  it('is not used up by refused requests, nor by a look', () => {
    const allowances = open();
    const two = { limit: 2, windowMs: 60_000 };
    for (let look = 0; look < 5; look += 1) expect(allowances.look('a', two)).toMatchObject({ allowed: true, remaining: 2 });
    for (let request = 0; request < 1_000; request += 1) allowances.spend('a', two);
    time += 30_000;
    expect(allowances.spend('a', two).allowed).toBe(true);
  });

  it('lets nobody have more than it holds and what came back since, whatever the pace', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 300 }),
        (limit, pauses) => {
          time = 0;
          const allowances = open();
          let allowed = 0;
          for (const pause of pauses) {
            time += pause;
            if (allowances.spend('a', { limit, windowMs: 60_000 }).allowed) allowed += 1;
          }
          return allowed <= limit + Math.floor((time / 60_000) * limit + 1e-6);
        },
      ),
    );
  });

  it('is kept for so many trackers; then those that were not heard of for longest are forgotten', () => {
    const allowances = open(4);
    const one = { limit: 1, windowMs: 60_000 };
    for (const tracker of ['a', 'b', 'c', 'd', 'e']) {
      allowances.spend(tracker, one);
      expect(allowances.size).toBeLessThanOrEqual(4);
    }
    expect(['a', 'b', 'c', 'd', 'e'].map((tracker) => allowances.look(tracker, one).allowed)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  it('takes no more memory for a million trackers', () => {
    const allowances = open();
    for (let tracker = 0; tracker < 1_000_000; tracker += 1) allowances.spend(`tracker ${tracker}`, sixty);
    expect(allowances.size).toBeLessThanOrEqual(10_000);
    expect(allowances.size).toBeGreaterThanOrEqual(5_000);
  });
});
