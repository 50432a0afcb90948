import { setTimeout as sleep } from 'node:timers/promises';
import { inTime, startTimer } from './timer.js';

describe('a timer', () => {
  it('waits longer than one of Node’s can, in steps', async () => {
    const started = performance.now();
    await new Promise<void>((resolve) => {
      startTimer(60, resolve, 7);
    });
    expect(performance.now() - started).toBeGreaterThanOrEqual(55);
  });

  it('does not fire at once for a time that a timer of Node’s takes for one millisecond', async () => {
    let fired = false;
    const stop = startTimer(4_294_967_294, () => (fired = true));
    await sleep(20);
    stop();
    expect(fired).toBe(false);
  });

  it('never fires once it is stopped, in whichever step', async () => {
    let fired = false;
    const stop = startTimer(30, () => (fired = true), 5);
    await sleep(12);
    stop();
    await sleep(40);
    expect(fired).toBe(false);
  });
});

describe('work in time', () => {
  it('gives what it comes to', async () => expect(await inTime(Promise.resolve(1), 1_000)).toBe(1));

  it('gives what it fails with', async () => expect(inTime(Promise.reject(new Error('down')), 1_000)).rejects.toThrow('down'));

  it('is late when it takes longer, and may fail then unheard', async () => {
    const failing = sleep(20).then(() => Promise.reject(new Error('down')));
    expect(await inTime(failing, 5)).toBe('late');
    await sleep(30);
  });

  it('is late at once when there is no time left', async () =>
    expect(await inTime(sleep(1_000, 1, { ref: false }), -1)).toBe('late'));
});
