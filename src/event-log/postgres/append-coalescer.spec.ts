import { randomUUID } from 'node:crypto';
import type { AppendOutcome } from '../event-log.js';
import { AppendCoalescer, batchLimits, type SizedAppend } from './append-coalescer.js';

const append = (stream: string, { events = 1, bytes = 100 } = {}): SizedAppend => ({
  stream,
  expected: 'no_stream',
  events: Array.from({ length: events }, () => ({ id: randomUUID(), type: 'LoanExtended', data: '{}', metadata: '{}' })),
  bytes,
});

/** Answers each batch when told to, and remembers what was in it. */
function sender() {
  const batches: string[][] = [];
  const answers: (() => void)[] = [];
  const send = (appends: readonly SizedAppend[]) => {
    batches.push(appends.map(({ stream }) => stream));
    return new Promise<AppendOutcome[]>((resolve) =>
      answers.push(() => resolve(appends.map(({ stream }) => ({ error: new Error(stream) })))),
    );
  };
  const answerNext = async () => {
    while (answers.length === 0) await new Promise((resolve) => setImmediate(resolve));
    answers.shift()?.();
  };
  return { batches, send, answerNext };
}

const streams = (outcomes: readonly AppendOutcome[]) =>
  outcomes.map((outcome) => ('error' in outcome ? outcome.error.message : ''));

describe('coalesced appends', () => {
  it('that start together are one batch, and each caller gets its own outcomes', async () => {
    const { batches, send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    const outcomes = [coalescer.submit([append('a')]), coalescer.submit([append('b'), append('c')])];
    await answerNext();
    expect((await Promise.all(outcomes)).map(streams)).toEqual([['a'], ['b', 'c']]);
    expect(batches).toEqual([['a', 'b', 'c']]);
  });

  it('that come while a batch is on its way are the next batch', async () => {
    const { batches, send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    const first = coalescer.submit([append('a')]);
    while (batches.length === 0) await new Promise((resolve) => setImmediate(resolve));
    const later = [coalescer.submit([append('b')]), coalescer.submit([append('c')])];
    await answerNext();
    await first;
    await answerNext();
    await Promise.all(later);
    expect(batches).toEqual([['a'], ['b', 'c']]);
  });

  it('are sent when a writer submits again in the moment it was answered', async () => {
    const { batches, send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    const again = coalescer.submit([append('a')]).then(() => coalescer.submit([append('b')]));
    await answerNext();
    await answerNext();
    expect(streams(await again)).toEqual(['b']);
    expect(batches).toEqual([['a'], ['b']]);
  });

  it.each([
    ['events', { events: batchLimits.events / 2, bytes: 1 }],
    ['bytes', { events: 1, bytes: batchLimits.bytes / 2 }],
  ])('never fill a batch beyond its limit of %s', async (_, size) => {
    const { batches, send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    const all = Promise.all(['a', 'b', 'c'].map((stream) => coalescer.submit([append(stream, size)])));
    await answerNext();
    await answerNext();
    await all;
    expect(batches).toEqual([['a', 'b'], ['c']]);
  });

  it('submitted at once stay whole when they fit in a batch', async () => {
    const { batches, send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    const half = { events: batchLimits.events / 2 };
    const all = Promise.all([coalescer.submit([append('a', half)]), coalescer.submit([append('b', half), append('c', half)])]);
    await answerNext();
    await answerNext();
    await all;
    expect(batches).toEqual([['a'], ['b', 'c']]);
  });

  it('submitted at once beyond a batch are several, in the order given', async () => {
    const { batches, send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    const names = Array.from({ length: 5 }, (_, index) => `s${index}`);
    const all = coalescer.submit(names.map((name) => append(name, { events: batchLimits.events / 2 })));
    for (let batch = 0; batch < 3; batch++) await answerNext();
    expect(streams(await all)).toEqual(names);
    expect(batches).toEqual([['s0', 's1'], ['s2', 's3'], ['s4']]);
  });

  it('of nothing are answered at once, and do not hold up the next', async () => {
    const { send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    expect(await coalescer.submit([])).toEqual([]);
    const outcomes = coalescer.submit([append('a')]);
    await answerNext();
    expect(streams(await outcomes)).toEqual(['a']);
  });

  it('are all answered when it is idle', async () => {
    const { send, answerNext } = sender();
    const coalescer = new AppendCoalescer(send);
    let answered = 0;
    void coalescer.submit([append('a')]).then(() => answered++);
    const idle = coalescer.idle();
    await answerNext();
    await idle;
    await Promise.resolve();
    expect(answered).toBe(1);
  });
});
