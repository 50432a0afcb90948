import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Database } from '../../src/database/database.js';
import { logPageSql, streamPageSql } from '../../src/event-log/postgres/event-queries.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { freshDatabase } from '../support/database.js';
import { eventLogContract } from './event-log.contract.js';
import { LogModel, steps } from './event-log.model.js';
import { Feed } from './feed.js';
import { all, expectGrowing, newEvent, newEvents, told } from './log-under-test.js';

async function open() {
  const database = await freshDatabase();
  const log = new PostgresEventLog(database);
  const close = async () => {
    await log.close();
    await database.close();
  };
  return { log, close };
}

eventLogContract('PostgreSQL', open);

describe('the event log in PostgreSQL', () => {
  let database: Database;
  let log: PostgresEventLog;
  let prefix: string;
  beforeAll(async () => {
    database = await freshDatabase();
    log = new PostgresEventLog(database);
  });
  afterAll(async () => {
    await log.close();
    await database.close();
  });
  beforeEach(() => {
    prefix = `postgres${randomUUID().slice(0, 8)}_`;
  });

  it('is empty at first, and its first event has position 0', async () => {
    expect(await log.head()).toBe(-1n);
    expect(await log.append(`${prefix}log-1`, newEvents(1), { expected: 'no_stream' })).toEqual({ revision: 0n, position: 0n });
    expect(await log.head()).toBe(0n);
  });

  it('has positions without gaps, also after refusals', async () => {
    const before = await log.head();
    await log.append(`${prefix}loan-1`, newEvents(2), { expected: 'no_stream' });
    await expect(log.append(`${prefix}loan-1`, newEvents(2), { expected: 'no_stream' })).rejects.toThrow();
    await log.append(`${prefix}loan-1`, newEvents(1), { expected: 1n });
    const positions = (await all(log.readAll({ after: before, prefix }))).map(({ position }) => position - before);
    expect(positions).toEqual([1n, 2n, 3n]);
  });

  it('never lets recorded time fall, even when the clock was set back', async () => {
    await log.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
    const future = new Date(Date.now() + 60_000);
    await database.query(`UPDATE mneme.events SET recorded_at = $1 WHERE stream = $2`, [future, `${prefix}loan-1`]);
    await log.append(`${prefix}loan-2`, newEvents(1), { expected: 'no_stream' });
    await log.appendMany([
      { stream: `${prefix}loan-1`, events: newEvents(1), expected: 0n },
      { stream: `${prefix}loan-1`, events: newEvents(1), expected: 1n },
    ]);
    const times = (await all(log.readAll({ after: -1n, prefix }))).map(({ recordedAt }) => recordedAt);
    expect(times).toEqual([future, future, future, future]);
    await database.query(`UPDATE mneme.events SET recorded_at = now() WHERE recorded_at = $1`, [future]);
  });

  it('refuses only the append whose event id already stands elsewhere in its stream', async () => {
    const [first, second] = newEvents(2);
    if (!first || !second) throw new Error('no events');
    await log.append(`${prefix}loan-1`, [first, second], { expected: 'no_stream' });
    const outcomes = await log.appendMany([
      { stream: `${prefix}loan-2`, events: newEvents(1), expected: 'no_stream' },
      { stream: `${prefix}loan-1`, events: [newEvent(), first], expected: 1n },
      { stream: `${prefix}loan-3`, events: newEvents(1), expected: 'no_stream' },
    ]);
    expect(outcomes.map(told)).toEqual([0n, 'invalid_append', 0n]);
    expect(await all(log.readStream(`${prefix}loan-1`))).toHaveLength(2);
  });

  it('carries out appends to one stream in the order given', async () => {
    const stream = `${prefix}loan-1`;
    const outcomes = await log.appendMany([
      { stream, events: newEvents(2), expected: 'no_stream' },
      { stream, events: newEvents(1), expected: 1n },
      { stream, events: newEvents(1), expected: 1n },
    ]);
    expect(outcomes.map(told)).toEqual([1n, 2n, { wrong: 2n }]);
  });

  it('agrees with a simple model on any batch of appends', () =>
    fc.assert(
      fc.asyncProperty(steps, async (sequence) => {
        const model = new LogModel(`model${randomUUID().slice(0, 8)}_`);
        const before = await log.head();
        const expected: unknown[] = [];
        const appends = sequence.map((step) => {
          const append = model.appendOf(step);
          expected.push(model.apply(append));
          return append;
        });
        expect((await log.appendMany(appends)).map(told)).toEqual(expected);
        const stored = await all(log.readAll({ after: before, prefix: model.prefix }));
        expect(stored.map(({ stream, id }) => ({ name: stream, id }))).toEqual(model.order);
        for (const name of model.streamNames) {
          expect((await all(log.readStream(name))).map(({ id }) => id)).toEqual(model.idsOf(name));
        }
      }),
      { numRuns: 30 },
    ));

  it.each([1, 2, 3, 7])('reads the same in pages of %s', async (pageEvents) => {
    const before = await log.head();
    for (let count = 0; count < 10; count++) {
      await log.append(`${count % 3 === 0 ? 'other' : ''}${prefix}loan-${count}`, newEvents(2), { expected: 'no_stream' });
    }
    const paged = new PostgresEventLog(database, { pageEvents });
    const range = { after: before, prefix };
    expect(await all(paged.readAll(range))).toEqual(await all(log.readAll(range)));
    const until = before + 11n;
    expect(await all(paged.readAll({ ...range, until }))).toEqual(await all(log.readAll({ ...range, until })));
    const stream = `${prefix}loan-1`;
    await log.append(stream, newEvents(5), { expected: 1n });
    expect(await all(paged.readStream(stream))).toEqual(await all(log.readStream(stream)));
    expect(await all(paged.readStream(stream, { from: 2n, limit: 4 }))).toHaveLength(4);
  });

  it('reads events in several queries when they are too large for one', async () => {
    const before = await log.head();
    const large = () => newEvent(JSON.stringify('x'.repeat(450_000)));
    for (let count = 0; count < 25; count++) {
      await log.append(`${prefix}loan-1`, [large()], { expected: count === 0 ? 'no_stream' : BigInt(count - 1) });
    }
    const inLog = await all(log.readAll({ after: before, prefix }));
    expect(inLog.map(({ revision }) => revision)).toEqual(Array.from({ length: 25 }, (_, index) => BigInt(index)));
    expect((await all(log.readStream(`${prefix}loan-1`))).map(({ id }) => id)).toEqual(inLog.map(({ id }) => id));
    const feed = new Feed((signal) => log.subscribe({ after: before, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    expect(feed.events.map(({ id }) => id)).toEqual(inLog.map(({ id }) => id));
    expectGrowing(feed.events);
    await feed.stop();
  });

  it('reads up to where the log was when reading began, and so comes to an end', async () => {
    const before = await log.head();
    const paged = new PostgresEventLog(database, { pageEvents: 2 });
    await log.append(`${prefix}loan-1`, newEvents(5), { expected: 'no_stream' });
    let read = 0;
    for await (const { revision } of paged.readAll({ after: before, prefix })) {
      await log.append(`${prefix}copy-${revision}`, newEvents(1), { expected: 'no_stream' });
      read++;
    }
    expect(read).toBe(5);
  });

  it('tells a subscription far from its events where it is, so that it need not begin anew', async () => {
    const before = await log.head();
    await log.append(`other${prefix}loan-1`, newEvents(7), { expected: 'no_stream' });
    const paged = new PostgresEventLog(database, { pageEvents: 3 });
    const feed = new Feed((signal) => paged.subscribe({ after: before, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    await feed.stop();
    expect(feed.items).toEqual([
      { kind: 'checkpoint', position: before + 3n },
      { kind: 'checkpoint', position: before + 6n },
      { kind: 'caught_up', position: before + 7n },
    ]);
  });

  it('wakes subscriptions at its own appends, long before they would look', async () => {
    const patient = new PostgresEventLog(database, { pollMs: 60_000 });
    const feed = new Feed((signal) => patient.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    await patient.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
    await feed.until(() => feed.events.length === 1);
    await feed.stop();
  });

  it('finds the events of other writers by looking', async () => {
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    await new PostgresEventLog(database).append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
    await feed.until(() => feed.events.length === 1);
    await feed.stop();
  });

  it('answers what it has, takes no more and ends its subscriptions when it is closed', async () => {
    const closing = new PostgresEventLog(database, { pollMs: 60_000 });
    const feed = new Feed((signal) => closing.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    const last = closing.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
    await closing.close();
    expect(await last).toMatchObject({ revision: 0n });
    await expect(closing.append(`${prefix}loan-2`, newEvents(1), { expected: 'no_stream' })).rejects.toMatchObject({
      code: 'log_unavailable',
    });
    await expect(feed.until(() => false)).rejects.toMatchObject({ code: 'log_unavailable' });
  });

  it('is unavailable, for every kind of call, when no server answers', async () => {
    const nowhere = new Database('postgres://postgres@127.0.0.1:1/postgres', false, 2);
    const lost = new PostgresEventLog(nowhere);
    await expect(lost.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' })).rejects.toMatchObject({
      code: 'log_unavailable',
    });
    await expect(lost.head()).rejects.toMatchObject({ code: 'log_unavailable' });
    await expect(all(lost.readStream(`${prefix}loan-1`))).rejects.toMatchObject({ code: 'log_unavailable' });
    await expect(all(lost.readAll({ after: -1n, prefix }))).rejects.toMatchObject({ code: 'log_unavailable' });
    const { signal } = new AbortController();
    await expect(all(lost.subscribe({ after: -1n, prefix, signal }))).rejects.toMatchObject({ code: 'log_unavailable' });
    const outcomes = await lost.appendMany([{ stream: `${prefix}loan-1`, events: newEvents(1), expected: 'no_stream' }]);
    expect(outcomes.map(told)).toEqual(['log_unavailable']);
    await lost.close();
    await nowhere.close();
  });

  describe('reads through its indexes', () => {
    beforeAll(async () => {
      for (let appended = 0n; appended < 4000n; appended += 400n) {
        await log.append('plans_long', newEvents(400), { expected: appended === 0n ? 'no_stream' : appended - 1n });
      }
      await database.query('ANALYZE mneme.events');
    });

    const plan = async (sql: string, values: unknown[]) =>
      (await database.query<{ 'QUERY PLAN': string }>(`EXPLAIN (COSTS OFF) ${sql}`, values))
        .map((row) => row['QUERY PLAN'])
        .join('\n');

    it('a page of the log by position, without sorting it', async () => {
      const head = await log.head();
      const found = await plan(logPageSql, [head - 1000n, head - 500n, 'plans_', 1_000_000]);
      expect(found).toMatch(/WindowAgg\n(.*Window: .*\n)?\s+->  Index Scan using events_position on events/);
      expect(found).not.toContain('Seq Scan');
    });

    it('a page of a long stream by revision, without sorting it', async () => {
      const found = await plan(streamPageSql, ['plans_long', 2000n, 500, 1_000_000]);
      expect(found).toContain('Index Cond: ((stream = ');
      expect(found).toContain('using events_stream_revision on events');
      expect(found).not.toMatch(/Seq Scan|Sort/);
    });
  });
});
