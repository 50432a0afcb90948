import { setTimeout as sleep } from 'node:timers/promises';
import { InFlight } from './in-flight.js';

describe('equal commands at once', () => {
  it('do the work once, and all get its result', async () => {
    const inFlight = new InFlight<number>();
    let runs = 0;
    const work = async () => {
      await sleep(5);
      return (runs += 1);
    };
    const results = await Promise.all(Array.from({ length: 1_000 }, () => inFlight.share('a', work, 1_000)));
    expect(new Set(results)).toEqual(new Set([1]));
    expect(runs).toBe(1);
  });

  it('of different keys do not wait for each other', async () => {
    const inFlight = new InFlight<string>();
    const never = new Promise<string>(() => undefined);
    void inFlight.share('a', () => never, 1_000);
    expect(await inFlight.share('b', () => Promise.resolve('b'), 1_000)).toBe('b');
  });

  it('take over when the first fails, which only the first is told of', async () => {
    const inFlight = new InFlight<string>();
    let runs = 0;
    const work = async () => {
      runs += 1;
      const run = runs;
      await sleep(5);
      if (run === 1) throw new Error('refused');
      return `run ${run}`;
    };
    const [first, ...others] = await Promise.allSettled(Array.from({ length: 5 }, () => inFlight.share('a', work, 1_000)));
    expect(first).toMatchObject({ status: 'rejected' });
    expect(others.map((other) => (other.status === 'fulfilled' ? other.value : ''))).toEqual([
      'run 2',
      'run 2',
      'run 2',
      'run 2',
    ]);
    expect(runs).toBe(2);
  });

  it('give up waiting when their patience is over', async () => {
    const inFlight = new InFlight<string>();
    void inFlight.share('a', () => new Promise<string>(() => undefined), 1_000);
    expect(await inFlight.share('a', () => Promise.resolve('mine'), 10)).toBeUndefined();
  });

  it('are worked on anew once the first is done', async () => {
    const inFlight = new InFlight<number>();
    let runs = 0;
    const work = () => Promise.resolve((runs += 1));
    expect([await inFlight.share('a', work, 10), await inFlight.share('a', work, 10)]).toEqual([1, 2]);
  });
});
