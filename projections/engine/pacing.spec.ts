import { Bell, Gate, Meter } from './pacing.js';

describe('a gate', () => {
  it('lets one pass after the other, also after one that failed', async () => {
    const gate = new Gate();
    const order: string[] = [];
    const slow = gate.pass(async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      order.push('slow');
      throw new Error('failed');
    });
    const quick = gate.pass(() => Promise.resolve(order.push('quick')));
    await expect(slow).rejects.toThrow('failed');
    await quick;
    expect(order).toEqual(['slow', 'quick']);
  });
});

describe('a bell', () => {
  it('wakes who came before the ring', async () => {
    const bell = new Bell();
    const woken = bell.next(bell.rings, 60_000);
    bell.ring();
    await expect(woken).resolves.toBeUndefined();
  });

  it('does not let a ring be missed between the look and the wait', async () => {
    const bell = new Bell();
    const { rings } = bell;
    bell.ring();
    await expect(bell.next(rings, 60_000)).resolves.toBeUndefined();
  });

  it('wakes when the signal aborts', async () => {
    const bell = new Bell();
    const abort = new AbortController();
    const woken = bell.next(bell.rings, 60_000, abort.signal);
    abort.abort();
    await expect(woken).resolves.toBeUndefined();
  });
});

describe('a meter', () => {
  it('says nothing moves before anything did', () => expect(new Meter().rates(0)).toEqual({ events: 0, positions: 0 }));

  it('counts events and positions over the last ten seconds', () => {
    const meter = new Meter();
    meter.add(1000, 1000n, 0);
    meter.add(100, 2000n, 20_000);
    meter.add(100, 2100n, 22_000);
    expect(meter.rates(24_000)).toEqual({ events: 50, positions: 25 });
  });

  it('forgets a burst', () => {
    const meter = new Meter();
    meter.add(1000, 1000n, 0);
    expect(meter.rates(11_000)).toEqual({ events: 0, positions: 0 });
  });
});
