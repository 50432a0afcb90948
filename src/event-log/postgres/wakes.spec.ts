import { pause, unlessAborted, Wakes } from './wakes.js';

const never = new AbortController().signal;
const long = 60_000;

describe('sleep of a subscription', () => {
  it('ends at a wake', async () => {
    const wakes = new Wakes();
    const asleep = Promise.all([wakes.sleep(long, wakes.sofar, never), wakes.sleep(long, wakes.sofar, never)]);
    wakes.wake();
    await asleep;
  });

  it('does not begin when a wake came after the last look', async () => {
    const wakes = new Wakes();
    const looked = wakes.sofar;
    wakes.wake();
    await wakes.sleep(long, looked, never);
  });

  it('ends when its time is over', async () => {
    const started = performance.now();
    await pause(20, never);
    expect(performance.now() - started).toBeGreaterThanOrEqual(19);
  });

  it('ends at once when the signal aborts, before or meanwhile', async () => {
    const abort = new AbortController();
    const asleep = pause(long, abort.signal);
    abort.abort();
    await asleep;
    await pause(long, abort.signal);
  });
});

describe('work under a signal', () => {
  it('gives its result, or its error', async () => {
    expect(await unlessAborted(Promise.resolve(7), never)).toBe(7);
    await expect(unlessAborted(Promise.reject(new Error('lost')), never)).rejects.toThrow('lost');
  });

  it('is left alone when the signal aborts, even if it fails later', async () => {
    const abort = new AbortController();
    let fail: (error: Error) => void = () => undefined;
    const work = new Promise<number>((_, reject) => (fail = reject));
    const result = unlessAborted(work, abort.signal);
    abort.abort();
    expect(await result).toBeUndefined();
    fail(new Error('too late'));
    expect(await unlessAborted(new Promise<number>(() => undefined), abort.signal)).toBeUndefined();
  });
});
