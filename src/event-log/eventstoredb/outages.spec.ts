import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { all, ids, newEvent, newEvents, told } from '../../../test/contract/log-under-test.js';
import { EventStoreDbForTests, failureOf } from '../../../test/support/eventstoredb-log.js';
import { isAppendOutcomeUnknown, isLogUnavailable } from '../errors.js';
import type { EventLog, NewEvent } from '../event-log.js';

const prefix = 'mneme_';
const expected = 'no_stream' as const;
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

describe('when EventStoreDB goes away and comes back', () => {
  const on = new EventStoreDbForTests();
  beforeEach(() => on.start());
  afterEach(() => on.stop());

  /** Disturbs the server until it is told to stop. @returns how often */
  async function disturb(until: AbortSignal): Promise<number> {
    for (let count = 0; ; count++) {
      await pause(30);
      if (until.aborted) return count;
      switch (count % 6) {
        case 0:
          on.server.kill();
          break;
        case 1:
          await on.server.pause();
          await pause(60);
          await on.server.restart();
          break;
        case 2:
          on.server.faults.inject('batch_append', { kind: 'drop', stored: true });
          break;
        case 3:
          on.server.faults.inject('batch_append', { kind: 'silence', stored: true });
          break;
        case 4:
          on.server.faults.strike('batch_append', { kind: 'end' });
          on.server.faults.strike('subscribe', { kind: 'end' });
          break;
        default:
          on.server.faults.inject('server_features', { kind: 'unknown' });
          on.server.faults.strike('subscribe', { kind: 'silence' });
      }
    }
  }

  it('again and again, nothing is lost, doubled or left hanging', async () => {
    const deadline = 300;
    const log = on.open({ appendDeadlineMs: deadline, readDeadlineMs: deadline });
    const longest = { append: 0 };
    const done = new AbortController();
    const disturbing = disturb(done.signal);
    const following = follow(log, done.signal, 4 * 60);
    const written = await Promise.all(
      Array.from({ length: 4 }, async (_, writer) => {
        const events = newEvents(60);
        for (const [index, event] of events.entries()) {
          await appendUntilKnown(log, `${prefix}loan-${writer}`, event, index, longest);
        }
        return events;
      }),
    );
    const followed = await following;
    done.abort();
    expect(await disturbing).toBeGreaterThan(6);
    on.server.faults.clear();
    await untilAnswered(() => log.head());
    for (const [writer, events] of written.entries()) {
      expect(ids(await all(log.readStream(`${prefix}loan-${writer}`)))).toEqual(ids(events));
    }
    expect(followed).toEqual(ids(await all(log.readAll({ after: -1n, prefix }))));
    expect(longest.append).toBeLessThan(deadline + 1500);
  }, 60_000);

  it('no connection stays open and no memory is kept', async () => {
    const log = on.open({ appendDeadlineMs: 100, readDeadlineMs: 100 });
    const text = JSON.stringify('x'.repeat(400_000));
    const round = async (count: number) => {
      on.server.faults.inject('batch_append', { kind: 'silence' }, { stream: `${prefix}silent` });
      const [stream, events] = [`${prefix}silent-${count}`, [newEvent(text)]];
      const failure = await failureOf(log.append(stream, events, { expected }));
      expect(['append_outcome_unknown', 'log_unavailable']).toContain(failure.code);
      on.server.faults.inject('read_all', { kind: 'silence' });
      expect(await failureOf(log.head())).toMatchObject({ code: 'log_unavailable' });
      on.server.faults.inject('server_features', { kind: 'silence' });
      expect(await failureOf(log.append(stream, events, { expected }))).toMatchObject({ code: 'log_unavailable' });
      await untilAnswered(() => log.head());
    };
    for (let count = 0; count < 5; count++) await round(count);
    const before = resources();
    for (let count = 5; count < 20; count++) await round(count);
    // What was given up last is cleared away a while later.
    for (let left = 100; left > 0 && resources().bytes - before.bytes > 6_000_000; left--) await pause(50);
    const after = resources();
    expect(after.sockets - before.sockets).toBeLessThan(6);
    expect(after.bytes - before.bytes).toBeLessThan(6_000_000); // 12 MB were sent and given up
  }, 60_000);

  it('a batch of appends is answered in time, whatever happens to it', async () => {
    const log = on.open({ appendDeadlineMs: 500 });
    for (let round = 0; round < 10; round++) {
      const appends = Array.from({ length: 300 }, (_, index) => ({
        stream: `${prefix}loan-${round}-${index}`,
        events: newEvents(1),
        expected,
      }));
      const started = performance.now();
      const outcomes = log.appendMany(appends);
      await pause(round * 5);
      on.server.kill();
      const codes = new Set((await outcomes).map(told));
      expect(performance.now() - started).toBeLessThan(5000);
      for (const code of codes) expect([0n, 'append_outcome_unknown', 'log_unavailable']).toContain(code);
    }
  }, 60_000);
});

/** Loops that wait for the log give up after it, also when their test has failed long before. */
let giveUpAt = 0;
beforeEach(() => (giveUpAt = performance.now() + 50_000));

/** Follows the log as a projection does, from one failed subscription to the next. @returns ids of the events, when there are so many */
async function follow(log: EventLog, signal: AbortSignal, count: number): Promise<string[]> {
  const seen: string[] = [];
  let after = -1n;
  while (!signal.aborted && performance.now() < giveUpAt) {
    try {
      for await (const item of log.subscribe({ after, prefix, signal })) {
        if (item.kind !== 'event') after = item.position;
        else {
          after = item.event.position;
          seen.push(item.event.id);
        }
        if (seen.length === count) return seen;
      }
    } catch (error) {
      if (!isLogUnavailable(error)) throw error;
      await pause(5);
    }
  }
  return seen;
}

async function appendUntilKnown(
  log: EventLog,
  stream: string,
  event: NewEvent,
  index: number,
  longest: { append: number },
): Promise<void> {
  for (;;) {
    const started = performance.now();
    try {
      await log.append(stream, [event], { expected: index === 0 ? expected : BigInt(index - 1) });
      return;
    } catch (error) {
      if ((!isAppendOutcomeUnknown(error) && !isLogUnavailable(error)) || performance.now() > giveUpAt) throw error;
      await pause(2);
    } finally {
      longest.append = Math.max(longest.append, performance.now() - started);
    }
  }
}

async function untilAnswered<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isLogUnavailable(error) || performance.now() > giveUpAt) throw error;
      await pause(5);
    }
  }
}

function resources(): { bytes: number; sockets: number } {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return { bytes: heapUsed + external, sockets: process.getActiveResourcesInfo().filter((name) => /^TCP/.test(name)).length };
}
