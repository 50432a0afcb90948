import { Pause } from './pause.js';

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
