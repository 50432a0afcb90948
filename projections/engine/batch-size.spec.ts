import fc from 'fast-check';
import { BatchSize } from './batch-size.js';

/** A database that takes a fixed time an event. */
function settled(size: BatchSize, msPerEvent: number): number {
  for (let batch = 0; batch < 50; batch++) size.took(size.events, size.events * msPerEvent);
  return size.events;
}

describe('the size of a batch', () => {
  it('is the largest on a server', () => expect(settled(new BatchSize(500, false), 10)).toBe(500));

  it('shrinks on the embedded database to what fits 25 milliseconds', () =>
    expect(settled(new BatchSize(500, true), 0.5)).toBe(50));

  it('grows to the largest where events are cheap', () => expect(settled(new BatchSize(500, true), 0.01)).toBe(500));

  it('stays within 20 and the largest whatever a transaction takes', () =>
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(3000), fc.double({ min: 0, max: 1e6, noNaN: true }))), (batches) => {
        const size = new BatchSize(500, true);
        for (const [events, ms] of batches) size.took(events, ms);
        expect(size.events).toBeGreaterThanOrEqual(20);
        expect(size.events).toBeLessThanOrEqual(500);
      }),
    ));

  it('learns nothing from a small batch that was quick', () => {
    const size = new BatchSize(500, true);
    size.took(1, 0.1);
    expect(size.events).toBe(100);
  });
});
