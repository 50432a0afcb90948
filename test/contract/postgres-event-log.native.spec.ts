import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { Database } from '../../src/database/database.js';
import { isAppendOutcomeUnknown, isLogUnavailable, isWrongExpectedRevision } from '../../src/event-log/errors.js';
import type { NewEvent, StoredEvent } from '../../src/event-log/event-log.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { freshDatabase, testDatabaseUrl } from '../support/database.js';
import { Feed } from './feed.js';
import { all, newEvent, newEvents } from './log-under-test.js';

/** A transaction that has appended to the log and holds its lock until it ends. */
const appendInTransaction = `
  SELECT * FROM mneme.append_events(
    ARRAY[$1], ARRAY[-1], ARRAY[1], ARRAY[1], ARRAY[$2::uuid], ARRAY['BookLent'], ARRAY['{}'], ARRAY['{}'])`;

describe('the event log in PostgreSQL, with several connections', () => {
  let database: Database;
  let server: pg.Pool;
  let prefix: string;
  const opened: { log: PostgresEventLog; own: Database }[] = [];

  /** A log with a pool of its own, as another process has. */
  const open = (pollMs = 5) => {
    const own = new Database(testDatabaseUrl().url, false, 4);
    const log = new PostgresEventLog(own, { pollMs });
    opened.push({ log, own });
    return log;
  };

  beforeAll(async () => {
    database = await freshDatabase();
    server = new pg.Pool({ connectionString: testDatabaseUrl().url, max: 4 });
  });
  beforeEach(() => {
    prefix = `native${randomUUID().slice(0, 8)}_`;
  });
  afterEach(async () => {
    for (const { log, own } of opened.splice(0)) {
      await log.close();
      await own.close();
    }
  });
  afterAll(async () => {
    await server.end();
    await database.close();
  });

  describe('position-only cursors over a plain sequence skip events; over ours they do not', () => {
    it('because a position is drawn only when all before it are committed', async () => {
      const [log, reader] = [open(), open()];
      const start = await reader.head();
      const feed = new Feed((signal) => reader.subscribe({ after: start, prefix, signal }));
      const slow = await server.connect();
      try {
        await slow.query('BEGIN');
        await slow.query(appendInTransaction, [`${prefix}slow-1`, randomUUID()]);
        let stored = false;
        const fast = log.append(`${prefix}fast-1`, newEvents(1), { expected: 'no_stream' }).then(() => (stored = true));
        await setTimeout(100);
        expect({ stored, seen: feed.events }).toEqual({ stored: false, seen: [] });
        await slow.query('COMMIT');
        await fast;
        await feed.until(() => feed.events.length === 2);
        expect(feed.events.map(({ stream }) => stream)).toEqual([`${prefix}slow-1`, `${prefix}fast-1`]);
      } finally {
        slow.release();
        await feed.stop();
      }
    });

    it('and a transaction that rolls back leaves no gap', async () => {
      const log = open();
      const start = await log.head();
      const slow = await server.connect();
      await slow.query('BEGIN');
      await slow.query(appendInTransaction, [`${prefix}slow-1`, randomUUID()]);
      await slow.query('ROLLBACK');
      slow.release();
      expect((await log.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' })).position).toBe(start + 1n);
    });

    it('with four processes that append while two others read', async () => {
      const [first, second] = [open(1), open(1)];
      const start = await first.head();
      const feeds = [first, second].map((reader) => new Feed((signal) => reader.subscribe({ after: start, prefix, signal })));
      const appended: bigint[] = [];
      await Promise.all(
        Array.from({ length: 4 }, async (_, process) => {
          const log = open();
          await Promise.all(
            Array.from({ length: 4 }, async (__, writer) => {
              for (let count = 0; count < 60; count++) {
                const stream = `${prefix}loan-${process}-${writer}-${count}`;
                appended.push((await log.append(stream, newEvents(1 + (count % 3)), { expected: 'no_stream' })).position);
              }
            }),
          );
        }),
      );
      const events = 4 * 4 * 20 * (1 + 2 + 3);
      for (const feed of feeds) {
        await feed.until(() => feed.events.length >= events);
        await feed.stop();
        expect(feed.events.map(({ position }) => position)).toEqual(expectedPositions(start, events));
        expectTimesNeverFall(feed.events);
      }
      expect(new Set(appended).size).toBe(4 * 4 * 60);
    });
  });

  it('lets exactly one of several processes win who expect the same revision', async () => {
    const logs = [open(), open(), open(), open()];
    const stream = `${prefix}loan-1`;
    for (let revision = -1n; revision < 20n; revision++) {
      const expected = revision < 0n ? 'no_stream' : revision;
      const outcomes = await Promise.allSettled(logs.map((log) => log.append(stream, newEvents(1), { expected })));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(isWrongExpectedRevision(outcome.reason)).toBe(true);
      }
    }
  });

  it('stores an append once that several processes send at once', async () => {
    const events = newEvents(3);
    const sent = await Promise.all(
      [open(), open(), open()].map((log) => log.append(`${prefix}loan-1`, events, { expected: 'no_stream' })),
    );
    expect(new Set(sent.map(({ position }) => position)).size).toBe(1);
    expect(await all(open().readStream(`${prefix}loan-1`))).toHaveLength(3);
  });

  describe('when the server ends the connection', () => {
    /** Ends every connection that is appending. @returns how many */
    const endAppends = async () =>
      (
        await server.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' AND query LIKE '%append_events%'`,
        )
      ).rowCount ?? 0;

    it('during an append, it says that it does not know, and the same append again is stored once', async () => {
      const log = open();
      const events = newEvents(2);
      const blocker = await server.connect();
      try {
        await blocker.query('BEGIN');
        await blocker.query(appendInTransaction, [`${prefix}other-1`, randomUUID()]);
        const lost = log.append(`${prefix}loan-1`, events, { expected: 'no_stream' }).catch((error: unknown) => error);
        while ((await endAppends()) === 0) await setTimeout(5);
        expect(isAppendOutcomeUnknown(await lost)).toBe(true);
        await blocker.query('COMMIT');
      } finally {
        blocker.release();
      }
      expect(await log.append(`${prefix}loan-1`, events, { expected: 'no_stream' })).toMatchObject({ revision: 1n });
      expect((await all(log.readStream(`${prefix}loan-1`))).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    });

    it('again and again, nothing is lost and nothing is stored twice', async () => {
      const log = open();
      const done = new AbortController();
      let ended = 0;
      const killer = (async () => {
        while (!done.signal.aborted) {
          ended += await endAppends();
          await setTimeout(3);
        }
      })();
      const stream = `${prefix}loan-1`;
      const events = Array.from({ length: 300 }, () => newEvent());
      let resent = 0;
      for (const [index, event] of events.entries()) {
        const expected = index === 0 ? 'no_stream' : BigInt(index - 1);
        resent += (await appendUntilKnown(log, stream, event, expected)) - 1;
      }
      done.abort();
      await killer;
      expect((await all(log.readStream(stream))).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
      expect(ended).toBeGreaterThan(0);
      expect(resent).toBeGreaterThan(0);
    });

    it('a subscription says that the log is unavailable, and a new one goes on from where it was', async () => {
      const log = open();
      const lastSeen = await log.head();
      const feed = new Feed((signal) => log.subscribe({ after: lastSeen, prefix, signal }));
      await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
      const table = await server.connect();
      await table.query('BEGIN; LOCK TABLE mneme.events'); // so that the next look is waiting when its connection ends
      const ending = feed.until(() => false).catch((error: unknown) => error);
      const reading = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%LEFT JOIN LATERAL%' AND pid <> pg_backend_pid()`;
      while (((await server.query(reading)).rowCount ?? 0) === 0) await setTimeout(5);
      expect(isLogUnavailable(await ending)).toBe(true);
      await table.query('ROLLBACK');
      table.release();
      await log.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
      const again = new Feed((signal) => log.subscribe({ after: lastSeen, prefix, signal }));
      await again.until(() => again.events.length === 1);
      await again.stop();
    });

    it('between appends, the next one finds another connection', async () => {
      const log = open();
      await log.append(`${prefix}loan-1`, newEvents(1), { expected: 'no_stream' });
      await server.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND state = 'idle' AND query LIKE '%append_events%' AND pid <> pg_backend_pid()`);
      await setTimeout(50); // until the pool has heard of it
      await log.append(`${prefix}loan-1`, newEvents(1), { expected: 0n });
    });
  });

  it('reads the next page while its reader works on one, and none for a reader that wanted a single event', async () => {
    let pages = 0;
    class CountedDatabase extends Database {
      override query<R extends object>(sql: string, values?: readonly unknown[]): Promise<R[]> {
        pages++;
        return super.query<R>(sql, values);
      }
    }
    const own = new CountedDatabase(testDatabaseUrl().url, false, 4);
    const log = new PostgresEventLog(own, { pageEvents: 10 });
    opened.push({ log, own });
    const after = await database.query<{ head: bigint }>('SELECT coalesce(max(position), -1) AS head FROM mneme.events');
    await open().append(`${prefix}loan-1`, newEvents(30), { expected: 'no_stream' });
    const events = log.readAll({ after: after[0]?.head ?? -1n, prefix })[Symbol.asyncIterator]();
    await events.next();
    await setTimeout(50);
    expect(pages).toBe(1);
    await events.next();
    expect(pages).toBe(2);
    for (let count = 2; count < 10; count++) await events.next();
    expect(pages).toBe(2);
    expect(await events.next()).toMatchObject({ value: { revision: 10n } });
    await events.return(undefined);
  });

  it('ends a subscription at once when its signal aborts while the server keeps it waiting', async () => {
    const log = open();
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    const table = await server.connect();
    await table.query('BEGIN; LOCK TABLE mneme.events');
    await setTimeout(50); // its next look now waits for the lock
    const aborted = performance.now();
    await feed.stop();
    expect(performance.now() - aborted).toBeLessThan(500);
    await table.query('ROLLBACK');
    table.release();
  });

  it('refuses to append where one snapshot serves the whole transaction, because it would miss the last append', async () => {
    const snapshot = await server.connect();
    await snapshot.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    const appending = snapshot.query(appendInTransaction, [`${prefix}loan-1`, randomUUID()]);
    await expect(appending).rejects.toMatchObject({ code: '25000' });
    await snapshot.query('ROLLBACK');
    snapshot.release();
  });
});

const expectedPositions = (start: bigint, count: number): bigint[] =>
  Array.from({ length: count }, (_, index) => start + 1n + BigInt(index));

function expectTimesNeverFall(events: readonly StoredEvent[]): void {
  const times = events.map(({ recordedAt }) => recordedAt.getTime());
  expect(times).toEqual([...times].sort((one, other) => one - other));
}

/** Sends the identical append until its outcome is known. @returns how often it was sent */
async function appendUntilKnown(
  log: PostgresEventLog,
  stream: string,
  event: NewEvent,
  expected: bigint | 'no_stream',
): Promise<number> {
  for (let sent = 1; ; sent++) {
    try {
      await log.append(stream, [event], { expected });
      return sent;
    } catch (error) {
      if (!isAppendOutcomeUnknown(error) && !isLogUnavailable(error)) throw error;
    }
  }
}
