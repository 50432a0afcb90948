import { InFlight } from './in-flight.js';

/** Enters one after the other, and tells how many have. */
function sender(flight: InFlight, sizes: readonly number[]) {
  const sent: number[] = [];
  const sending = (async () => {
    for (const size of sizes) {
      await flight.enter(size);
      sent.push(size);
    }
  })();
  return { sent, sending };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('what is on its way', () => {
  it.each([
    ['a count', { count: 2, bytes: 1000 }, [1, 1, 1]],
    ['bytes', { count: 10, bytes: 100 }, [50, 50, 1]],
  ])('is limited to %s', async (_, limits, sizes) => {
    const flight = new InFlight(limits);
    const { sent, sending } = sender(flight, sizes);
    await turn();
    expect(sent).toHaveLength(2);
    flight.leave(sizes[0] ?? 0);
    await sending;
    expect(sent).toEqual(sizes);
  });

  it('may be one thing larger than the limit', async () => {
    const flight = new InFlight({ count: 10, bytes: 100 });
    const { sent, sending } = sender(flight, [500, 500]);
    await turn();
    expect(sent).toEqual([500]);
    flight.leave(500);
    await sending;
  });
});
