import { setTimeout as sleep } from 'node:timers/promises';
import { withDeadline } from './deadline.js';

const soon = () => sleep(20, 'answer');

describe('a deadline', () => {
  it.each([undefined, 1_000, 2_147_483_648, 4_294_967_294])('of %p milliseconds lets work of 20 end', async (timeoutMs) =>
    expect(await withDeadline(soon, { timeoutMs })).toBe('answer'),
  );

  it('ends the wait and the work when the time is over', async () => {
    let told: AbortSignal | undefined;
    const waiting = withDeadline((signal) => ((told = signal), new Promise(() => undefined)), { timeoutMs: 5 });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(told?.reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('ends the wait and the work when the caller goes, whatever the work throws because of it', async () => {
    const caller = new AbortController();
    const work = (signal: AbortSignal) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('the work stopped'))));
    const waiting = withDeadline(work, { timeoutMs: undefined, signal: caller.signal });
    caller.abort(new Error('for a reason of its own'));
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('starts no work for a caller who has gone', async () => {
    let started = false;
    const work = () => Promise.resolve((started = true));
    await expect(withDeadline(work, { timeoutMs: 5, signal: AbortSignal.abort() })).rejects.toMatchObject({ name: 'AbortError' });
    expect(started).toBe(false);
  });

  it('passes on what the work throws, also at once', async () => {
    const work = () => {
      throw new TypeError('broken');
    };
    await expect(withDeadline(work, { timeoutMs: 5 })).rejects.toThrow('broken');
  });
});
