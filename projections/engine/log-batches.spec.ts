import { setTimeout as sleep } from 'node:timers/promises';
import type { LogItem, StoredEvent } from '../../src/event-log/event-log.js';
import { LogBatches, oneAhead } from './log-batches.js';

const event = (position: bigint): LogItem => ({
  kind: 'event',
  event: {
    id: '',
    type: 'Noted',
    data: '{}',
    metadata: '{}',
    stream: 's',
    revision: 0n,
    position,
    recordedAt: new Date(0),
  } satisfies StoredEvent,
});

/** A subscription that gives these items, a number being a pause in milliseconds, and then nothing more. */
async function* subscription(items: readonly (LogItem | number)[]): AsyncGenerator<LogItem, void, undefined> {
  for (const item of items) {
    if (typeof item === 'number') await sleep(item);
    else yield item;
  }
  await sleep(60_000, undefined, { ref: false });
}

async function batchesOf(count: number, maxEvents: number, items: readonly (LogItem | number)[]) {
  const batches = new LogBatches(subscription(items), 50);
  const cut: (readonly [number, bigint])[] = [];
  for (let batch = 0; batch < count; batch++) {
    const { events, position } = await batches.next(maxEvents);
    cut.push([events.length, position]);
  }
  return cut;
}

describe('batches of a subscription', () => {
  it('are as large as allowed while stored events are read', async () =>
    expect(await batchesOf(2, 2, [event(0n), event(1n), event(2n), event(3n)])).toEqual([
      [2, 1n],
      [2, 3n],
    ]));

  it('end before they take too much memory', async () => {
    const large = (position: bigint): LogItem => {
      const item = event(position);
      return item.kind === 'event' ? { ...item, event: { ...item.event, data: 'x'.repeat(500_000) } } : item;
    };
    const [[count, position] = []] = await batchesOf(
      1,
      500,
      Array.from({ length: 40 }, (_, index) => large(BigInt(index))),
    );
    expect([count, position]).toEqual([17, 16n]);
  });

  it('end where the stored events do', async () =>
    expect(await batchesOf(2, 10, [event(0n), { kind: 'caught_up', position: 3n }, event(4n)])).toEqual([
      [1, 3n],
      [1, 4n],
    ]));

  it('wait a moment for more while stored events are read', async () =>
    expect(await batchesOf(1, 10, [event(0n), 10, event(1n)])).toEqual([[2, 1n]]));

  it('do not wait for ever', async () => expect(await batchesOf(1, 10, [event(0n), 1000, event(1n)])).toEqual([[1, 0n]]));

  it('take what is there at once, when level with the log: somebody may be waiting for it', async () =>
    expect(await batchesOf(3, 10, [{ kind: 'caught_up', position: 4n }, 5, event(5n), event(6n), 10, event(7n)])).toEqual([
      [0, 4n],
      [2, 6n],
      [1, 7n],
    ]));

  it('reach as far as the log was seen, also where nothing was ours', async () =>
    expect(await batchesOf(1, 10, [event(0n), { kind: 'checkpoint', position: 90n }])).toEqual([[1, 90n]]));

  it('end with the log being unavailable when the subscription ends by itself', async () => {
    const ending = new LogBatches(
      (async function* () {
        yield await Promise.resolve(event(0n));
      })(),
      50,
    );
    await expect(ending.next(1)).resolves.toMatchObject({ position: 0n });
    await expect(ending.next(1)).rejects.toMatchObject({ code: 'log_unavailable' });
  });

  it('pass on what the subscription throws', async () => {
    const failing = new LogBatches(
      (async function* (): AsyncGenerator<LogItem, void, undefined> {
        await Promise.reject(new RangeError('broken'));
      })(),
      50,
    );
    await expect(failing.next(1)).rejects.toThrow('broken');
  });
});

describe('making the next one ahead', () => {
  async function* numbers(made: number[], failAt?: number): AsyncGenerator<number, void, undefined> {
    for (let number = 0; number < 5; number++) {
      await Promise.resolve();
      if (number === failAt) throw new Error(`no ${number}`);
      made.push(number);
      yield number;
    }
  }

  it('makes one, and only one, while the consumer works', async () => {
    const made: number[] = [];
    const seen: [item: number, made: number][] = [];
    for await (const item of oneAhead(numbers(made))) {
      await new Promise((resolve) => setImmediate(resolve));
      seen.push([item, made.length]);
    }
    expect(seen).toEqual([0, 1, 2, 3, 4].map((item) => [item, Math.min(item + 2, 5)]));
  });

  it('fails when the one that could not be made has its turn', async () => {
    const seen: number[] = [];
    const reading = (async () => {
      for await (const item of oneAhead(numbers([], 2))) seen.push(item);
    })();
    await expect(reading).rejects.toThrow('no 2');
    expect(seen).toEqual([0, 1]);
  });

  it('says nothing of a failure that the consumer did not wait for', async () => {
    for await (const item of oneAhead(numbers([], 1))) {
      expect(item).toBe(0);
      break;
    }
  });
});
