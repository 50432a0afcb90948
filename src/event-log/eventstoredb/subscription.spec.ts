import { runInNewContext } from 'node:vm';
import { setFlagsFromString } from 'node:v8';
import { EventStoreDBClient } from '@eventstore/db-client';
import { Feed } from '../../../test/contract/feed.js';
import { all, ids, newEvent, newEvents } from '../../../test/contract/log-under-test.js';
import { EventStoreDbForTests, failureOf } from '../../../test/support/eventstoredb-log.js';
import type { LogItem } from '../event-log.js';

const prefix = 'mneme_';
const expected = 'no_stream' as const;
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));
const isCaughtUp = ({ kind }: LogItem) => kind === 'caught_up';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Bytes that are in use, after what is not has been cleared away. */
function bytesInUse(): number {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

describe('a subscription to EventStoreDB', () => {
  const on = new EventStoreDbForTests();
  beforeEach(() => on.start());
  afterEach(() => on.stop());

  it('goes on after any position without a gap and without a double', async () => {
    const log = on.open();
    const start = await log.head();
    for (let count = 0; count < 30; count++) {
      await log.append(`${count % 3 === 0 ? 'other_' : prefix}loan-${count}`, newEvents(1 + (count % 4)), { expected });
    }
    const stored = await all(log.readAll({ after: -1n, prefix }));
    const feed = new Feed((signal) => log.subscribe({ after: start, prefix, signal }));
    await feed.until((items) => items.some(isCaughtUp));
    await feed.stop();
    expect(feed.events).toEqual(stored);
    for (const item of feed.items) {
      const position = item.kind === 'event' ? item.event.position : item.position;
      const resumed = new Feed((signal) => log.subscribe({ after: position, prefix, signal }));
      await resumed.until((items) => items.some(isCaughtUp));
      await resumed.stop();
      expect(resumed.events).toEqual(stored.filter((event) => event.position > position));
    }
  });

  it('goes on after every position that it told of while it passed a thousand events of others', async () => {
    const log = on.open({ watchdogMs: 60_000 });
    for (let round = 0; round < 8; round++) {
      await log.append(`other-${round}`, newEvents(400), { expected });
      if (round % 4 === 3) await log.append(`${prefix}loan-${round}`, newEvents(1), { expected });
    }
    const stored = await all(log.readAll({ after: -1n, prefix }));
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(isCaughtUp));
    await feed.stop();
    const checkpoints = feed.items.flatMap((item) => (item.kind === 'checkpoint' ? [item.position] : []));
    expect(checkpoints.length).toBeGreaterThanOrEqual(4);
    for (const after of checkpoints) {
      const resumed = new Feed((signal) => log.subscribe({ after, prefix, signal }));
      await resumed.until((items) => items.some(isCaughtUp));
      await resumed.stop();
      expect(resumed.events).toEqual(stored.filter(({ position }) => position > after));
    }
  });

  it('goes on after a position whose event was scavenged', async () => {
    const log = on.open();
    await log.append(`${prefix}loan-1`, newEvents(1), { expected });
    const { position } = await log.append('other-1', newEvents(1), { expected });
    const events = newEvents(2);
    await log.append(`${prefix}loan-1`, events, { expected: 0n });
    const administrator = EventStoreDBClient.connectionString(on.server.connectionString);
    await administrator.deleteStream('other-1');
    await administrator.dispose();
    on.server.scavenge();
    const feed = new Feed((signal) => log.subscribe({ after: position, prefix, signal }));
    await feed.until((items) => items.some(isCaughtUp));
    await feed.stop();
    expect(ids(feed.events)).toEqual(ids(events));
    expect(ids(await all(log.readAll({ after: position, prefix })))).toEqual(ids(events));
  });

  it('says once that it caught up, also when it falls behind and catches up again', async () => {
    const log = on.open();
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(isCaughtUp));
    await on.server.requests.until('subscribe');
    for (let round = 0; round < 3; round++) {
      while (on.server.faults.strike('subscribe', { kind: 'fall_behind' }) === 0) await pause(1);
      await log.append(`${prefix}loan-${round}`, newEvents(50), { expected });
    }
    await feed.until(() => feed.events.length === 150);
    await feed.stop();
    expect(feed.items.filter(isCaughtUp)).toHaveLength(1);
    expect(feed.events).toEqual(await all(log.readAll({ after: -1n, prefix })));
  });

  it('finds out by itself that it caught up on a server that never says so', async () => {
    const log = on.open({ watchdogMs: 60_000 });
    await log.append('other-1', newEvents(3), { expected });
    on.server.faults.inject('subscribe', { kind: 'silence' });
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    const caughtUp = await feed.until((items) => items.find(isCaughtUp));
    expect(caughtUp).toEqual({ kind: 'caught_up', position: await log.head() });
    await feed.stop();
  });

  it('that is silent from the beginning fails when there is something to tell', async () => {
    const log = on.open();
    await log.append(`${prefix}loan-1`, newEvents(1), { expected });
    on.server.faults.inject('subscribe', { kind: 'silence' });
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    expect(await failureOf(feed.until(() => false))).toMatchObject({ code: 'log_unavailable' });
    expect(feed.events).toEqual([]);
    expect(feed.items.filter(isCaughtUp)).toEqual([]);
  });

  it('that falls silent in the middle fails, and says nothing false before', async () => {
    const log = on.open();
    await log.append(`${prefix}loan-1`, newEvents(5), { expected });
    on.server.faults.inject('subscribe', { kind: 'silence', afterEvents: 3 });
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    expect(await failureOf(feed.until(() => false))).toMatchObject({ code: 'log_unavailable' });
    expect(feed.kinds).toEqual(['event', 'event', 'event']);
  });

  it('is not blamed for a consumer that takes its time', async () => {
    const log = on.open({ watchdogMs: 20 });
    await log.append(`${prefix}loan-1`, newEvents(40), { expected });
    const revisions: bigint[] = [];
    const { signal } = new AbortController();
    for await (const item of log.subscribe({ after: -1n, prefix, signal })) {
      if (item.kind !== 'event') break;
      revisions.push(item.event.revision);
      if (revisions.length % 10 === 0) await pause(100);
    }
    expect(revisions).toHaveLength(40);
  });

  it('tells where the log is while only others append, less often than they do', async () => {
    const log = on.open();
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(isCaughtUp));
    for (let count = 0; count < 3; count++) {
      const { position } = await log.append(`other-${count}`, newEvents(1), { expected });
      await feed.until((items) => items.some((item) => item.kind === 'checkpoint' && item.position === position));
    }
    const { length } = feed.items;
    await pause(300); // nothing happens: nothing is told
    expect(feed.items).toHaveLength(length);
    await feed.stop();
  });

  it.each(['subscribe', 'read_all'] as const)(
    'ends at once when its signal aborts while the server is silent (%s)',
    async (operation) => {
      const log = on.open();
      on.server.faults.inject(operation, { kind: 'silence' }, { times: 'until_cleared' });
      const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
      await on.server.requests.until(operation);
      const aborted = performance.now();
      await feed.stop();
      expect(performance.now() - aborted).toBeLessThan(100);
    },
  );

  it('leaves nothing open on the server when it has ended', async () => {
    const log = on.open();
    for (let count = 0; count < 5; count++) {
      const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
      await feed.until((items) => items.some(isCaughtUp));
      await on.server.requests.until('subscribe', count + 1);
      await feed.stop();
    }
    await log.append(`${prefix}loan-1`, newEvents(20), { expected });
    for await (const item of log.subscribe({ after: -1n, prefix, signal: new AbortController().signal })) {
      if (item.kind === 'event') break;
    }
    await pause(100);
    expect(on.server.faults.strike('subscribe', { kind: 'fall_behind' })).toBe(0);
  });

  it('holds a few events only, however slow its consumer is', async () => {
    const log = on.open({ watchdogMs: 60_000 });
    const text = JSON.stringify('x'.repeat(20_000));
    const large = () => Array.from({ length: 40 }, () => newEvent(text));
    for (let count = 0; count < 25; count++) await log.append(`${prefix}loan-${count}`, large(), { expected });
    const before = bytesInUse();
    const subscription: AsyncIterator<LogItem> = log.subscribe({ after: -1n, prefix, signal: new AbortController().signal });
    await subscription.next();
    await pause(1500);
    expect(bytesInUse() - before).toBeLessThan(8_000_000); // of 20 MB that wait
    const seen: string[] = [];
    while (seen.length < 999) {
      const { value } = (await subscription.next()) as { value: LogItem };
      if (value.kind === 'event') seen.push(value.event.id);
    }
    expect(new Set(seen).size).toBe(999);
    await subscription.return?.(undefined);
  });

  it('takes a prefix literally', async () => {
    const log = on.open();
    const [one, other] = [newEvents(1), newEvents(1)];
    await log.append('a.b*-1', one, { expected });
    await log.append('axbb-1', other, { expected });
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix: 'a.b*', signal }));
    await feed.until((items) => items.some(isCaughtUp));
    await feed.stop();
    expect(ids(feed.events)).toEqual(ids(one));
  });
});
