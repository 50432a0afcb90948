import { Slices } from './slices.js';

describe('long work', () => {
  it('lets timers run in between, and loses no time while it is short', async () => {
    let served = 0;
    const timer = setInterval(() => served++, 1);
    const slices = new Slices();
    const until = performance.now() + 60;
    let pauses = 0;
    while (performance.now() < until) {
      if (!slices.over) continue;
      await slices.next();
      pauses++;
    }
    clearInterval(timer);
    expect(pauses).toBeGreaterThan(0);
    expect(pauses).toBeLessThanOrEqual(12);
    expect(served).toBeGreaterThan(0);
  });
});
