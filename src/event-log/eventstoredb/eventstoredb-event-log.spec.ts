import { inspect } from 'node:util';
import { EventStoreDBClient } from '@eventstore/db-client';
import { Feed } from '../../../test/contract/feed.js';
import { all, ids, newEvent, newEvents, told } from '../../../test/contract/log-under-test.js';
import { EventStoreDbForTests, failureOf } from '../../../test/support/eventstoredb-log.js';
import type { BatchAppendFault, ReadFault } from '../../../test/support/eventstoredb/faults.js';

const stream = 'mneme_loan-1';
const prefix = 'mneme_';
const expected = 'no_stream' as const;

describe('the event log in EventStoreDB', () => {
  const on = new EventStoreDbForTests();
  beforeEach(() => on.start());
  afterEach(() => on.stop());

  /** Does to streams what the log never does. */
  const asAdministrator = async (work: (client: EventStoreDBClient) => Promise<unknown>) => {
    const client = EventStoreDBClient.connectionString(on.server.connectionString);
    await work(client);
    await client.dispose();
  };

  describe('an append that fails', () => {
    it.each<[string, BatchAppendFault]>([
      ['log_unavailable', { kind: 'unavailable' }],
      ['log_unavailable', { kind: 'too_busy' }],
      ['append_outcome_unknown', { kind: 'timeout', stored: true }],
      ['append_outcome_unknown', { kind: 'cancelled', stored: true }],
      ['append_outcome_unknown', { kind: 'unknown', stored: true }],
      ['append_outcome_unknown', { kind: 'not_leader' }],
      ['append_outcome_unknown', { kind: 'drop' }],
      ['append_outcome_unknown', { kind: 'drop', stored: true }],
      ['log_access_denied', { kind: 'access_denied' }],
      ['append_too_large', { kind: 'too_large' }],
    ])('says %s when the server answers %j, and can be sent again', async (code, fault) => {
      const log = on.open();
      const events = newEvents(2);
      on.server.faults.inject('batch_append', fault);
      expect(await failureOf(log.append(stream, events, { expected }))).toMatchObject({ code });
      expect(await log.append(stream, events, { expected })).toMatchObject({ revision: 1n });
      expect(ids(await all(log.readStream(stream)))).toEqual(ids(events));
    });

    it('says what the server’s limit is when it is lower than ours', async () => {
      await on.stop();
      await on.start({ maxAppendSize: 2000 });
      const large = newEvent(JSON.stringify('x'.repeat(3000)));
      const failure = await failureOf(on.open().append(stream, [large], { expected }));
      expect(failure).toMatchObject({ code: 'append_too_large', limit: 2000 });
    });

    it('says log_unavailable for certain when no server answers, at once', async () => {
      await on.server.pause();
      const log = on.open();
      const started = performance.now();
      expect(await failureOf(log.append(stream, newEvents(1), { expected }))).toMatchObject({ code: 'log_unavailable' });
      const outcomes = await log.appendMany([{ stream, events: newEvents(1), expected }]);
      expect(outcomes.map(told)).toEqual(['log_unavailable']);
      expect(performance.now() - started).toBeLessThan(1000);
      await on.server.restart();
      await log.append(stream, newEvents(1), { expected });
    });

    it('says log_unavailable when the server went away between two appends', async () => {
      const log = on.open();
      await log.append(stream, newEvents(1), { expected });
      await on.server.pause();
      await new Promise((resolve) => setTimeout(resolve, 50)); // until the connection has heard of it
      expect(await failureOf(log.append(stream, newEvents(1), { expected: 0n }))).toMatchObject({ code: 'log_unavailable' });
      await on.server.restart();
      await log.append(stream, newEvents(1), { expected: 0n });
    });

    it('fails no other append that is on its way', async () => {
      const log = on.open({ appendDeadlineMs: 1000 });
      on.server.faults.inject('batch_append', { kind: 'timeout' }, { stream: 'mneme_slow' });
      const slow = failureOf(log.append('mneme_slow-1', newEvents(1), { expected }));
      expect(await log.append(stream, newEvents(1), { expected })).toMatchObject({ revision: 0n });
      expect(await slow).toMatchObject({ code: 'append_outcome_unknown' });
    });
  });

  it('leaves the rest of many appends unsent when the server falls silent', async () => {
    const log = on.open({ appendDeadlineMs: 500 });
    await log.append(stream, newEvents(1), { expected });
    on.server.faults.inject('batch_append', { kind: 'silence' }, { times: 'until_cleared' });
    const appends = Array.from({ length: 1000 }, (_, index) => ({
      stream: `${stream}-${index}`,
      events: newEvents(1),
      expected,
    }));
    const started = performance.now();
    const outcomes = await log.appendMany(appends);
    expect(performance.now() - started).toBeLessThan(8000);
    expect(new Set(outcomes.map(told))).toEqual(new Set(['append_outcome_unknown', 'log_unavailable']));
    expect(on.server.requests.of('batch_append').length).toBeLessThan(500);
    on.server.faults.clear();
    expect(new Set((await log.appendMany(appends.slice(0, 10))).map(told))).toEqual(new Set([0n]));
  });

  describe('a read that fails', () => {
    it.each<[string, ReadFault]>([
      ['log_unavailable', { kind: 'unavailable' }],
      ['log_unavailable', { kind: 'silence' }],
      ['log_unavailable', { kind: 'drop' }],
      ['log_unavailable', { kind: 'unknown' }],
      ['log_unavailable', { kind: 'silence', afterEvents: 2 }],
      ['log_unavailable', { kind: 'drop', afterEvents: 2 }],
      ['log_access_denied', { kind: 'access_denied' }],
    ])('says %s when the server answers %j, and works the next time', async (code, fault) => {
      const log = on.open({ readDeadlineMs: 1_000 });
      await log.append(stream, newEvents(3), { expected });
      const reads = [
        ['read_stream', () => all(log.readStream(stream))],
        ['read_all', () => log.head()],
        ['read_all', () => all(log.readAll({ after: -1n, prefix }))],
      ] as const;
      for (const [operation, read] of reads) {
        if (fault.afterEvents !== undefined && read === reads[1][1]) continue;
        // Reading all begins with asking for the head.
        if (read === reads[2][1]) on.server.faults.inject('read_all', { kind: 'late', ms: 1 });
        on.server.faults.inject(operation, fault);
        expect(await failureOf(read())).toMatchObject({ code });
        await read();
      }
    });

    it('is never taken for complete when the connection is given up meanwhile', async () => {
      const log = on.open({ appendDeadlineMs: 1_000 });
      await log.append(stream, newEvents(3), { expected });
      on.server.faults.inject('read_stream', { kind: 'silence', afterEvents: 2 });
      const reading = failureOf(all(log.readStream(stream)));
      on.server.faults.inject('batch_append', { kind: 'silence' });
      await failureOf(log.append('mneme_loan-2', newEvents(1), { expected }));
      expect(await reading).toMatchObject({ code: 'log_unavailable' });
    });

    it('of the whole log goes on where the server stopped too soon', async () => {
      const log = on.open();
      await log.append(stream, newEvents(5), { expected });
      on.server.faults.inject('read_all', { kind: 'late', ms: 1 });
      on.server.faults.inject('read_all', { kind: 'end', afterEvents: 6 });
      expect((await all(log.readAll({ after: -1n, prefix }))).map(({ revision }) => revision)).toEqual([0n, 1n, 2n, 3n, 4n]);
    });
  });

  it('reads up to where the log was when reading began, and so comes to an end', async () => {
    const log = on.open();
    await log.append(stream, newEvents(5), { expected });
    let read = 0;
    for await (const { revision } of log.readAll({ after: -1n, prefix })) {
      await log.append(`mneme_copy-${revision}`, newEvents(1), { expected });
      read++;
    }
    expect(read).toBe(5);
  });

  it('refuses credentials with one error', async () => {
    await on.stop();
    await on.start({ credentials: { username: 'admin', password: 'changeit' } });
    const log = on.open();
    const denied = { code: 'log_access_denied' };
    expect(await failureOf(log.append(stream, newEvents(1), { expected }))).toMatchObject(denied);
    expect(await failureOf(log.head())).toMatchObject(denied);
    expect(await failureOf(all(log.readStream(stream)))).toMatchObject(denied);
    const { signal } = new AbortController();
    expect(await failureOf(all(log.subscribe({ after: -1n, prefix, signal })))).toMatchObject({ code: 'log_unavailable' });
  });

  it('names neither password nor content in what it throws or logs', async () => {
    const logged: unknown[] = [];
    const logger = { warn: (...words: unknown[]) => logged.push(words) };
    const connectionString = on.server.connectionString.replace('esdb://', 'esdb://admin:changeit@');
    const log = on.open({ connectionString, logger, appendDeadlineMs: 1_000 });
    const secret = newEvent('"moby-dick"');
    for (const kind of ['silence', 'unknown', 'drop', 'end', 'timeout'] as const) {
      on.server.faults.inject('batch_append', { kind });
      logged.push(await failureOf(log.append(stream, [secret], { expected })));
    }
    await log.append(stream, [secret], { expected });
    logged.push(await failureOf(log.append(stream, [newEvent('"moby-dick"')], { expected })));
    expect(logged.length).toBeGreaterThan(5);
    expect(inspect(logged, { depth: 12 })).not.toMatch(/changeit|moby-dick/);
  });

  describe('a stream that was deleted', () => {
    it('for ever takes no more events, and nobody reads of its end', async () => {
      const log = on.open();
      const before = await log.head();
      await log.append(stream, newEvents(2), { expected });
      await asAdministrator((client) => client.tombstoneStream(stream));
      await log.append('mneme_loan-2', newEvents(1), { expected });
      expect(await failureOf(log.append(stream, newEvents(1), { expected: 1n }))).toMatchObject({ code: 'stream_tombstoned' });
      expect(await failureOf(all(log.readStream(stream)))).toMatchObject({ code: 'stream_tombstoned' });
      const types = (await all(log.readAll({ after: before, prefix }))).map(({ type }) => type);
      expect(types).toEqual(['BookLent', 'BookLent', 'BookLent']);
      const feed = new Feed((signal) => log.subscribe({ after: before, prefix, signal }));
      await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
      await feed.stop();
      expect(feed.events.map(({ type }) => type)).toEqual(types);
    });

    it('but not for ever is empty, and goes on with its revisions', async () => {
      const log = on.open();
      await log.append(stream, newEvents(2), { expected });
      await asAdministrator((client) => client.deleteStream(stream));
      expect(await all(log.readStream(stream))).toEqual([]);
      const [event] = newEvents(1);
      if (!event) throw new Error('no event');
      const appended = await log.append(stream, [event], { expected });
      expect(await all(log.readStream(stream))).toMatchObject([{ id: event.id, revision: 2n, position: appended.position }]);
      expect(appended.revision).toBe(2n);
    });
  });

  describe('on a cluster', () => {
    it.each(['connectionString', 'discoveryString'] as const)('finds the leader (%s), and the next one', async (form) => {
      await on.stop();
      const server = await on.start({ members: 3 });
      const log = on.open({ connectionString: server[form] });
      await log.append(stream, newEvents(1), { expected });
      server.elect(server.members[1]);
      expect(await log.head()).toBeGreaterThan(0n);
      expect(await all(log.readStream(stream))).toHaveLength(1);
      server.elect(server.members[2]);
      await server.members[1]?.pause();
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(await untilKnown(() => log.append(stream, newEvents(1), { expected: 0n }))).toMatchObject({ revision: 1n });
    });
  });

  it('appends on a server that takes no batches', async () => {
    await on.stop();
    await on.start({ batchAppend: false });
    const log = on.open({ appendDeadlineMs: 1_000 });
    const events = newEvents(2);
    on.server.faults.inject('append', { kind: 'silence', stored: true });
    expect(await failureOf(log.append(stream, events, { expected }))).toMatchObject({ code: 'append_outcome_unknown' });
    const first = await log.append(stream, events, { expected });
    expect(await failureOf(log.append(stream, newEvents(1), { expected }))).toMatchObject({ actual: 1n });
    expect(await all(log.readStream(stream))).toMatchObject([{ id: events[0]?.id }, { id: events[1]?.id, ...first }]);
  });

  it('answers what it has, takes no more and ends its subscriptions when it is closed', async () => {
    const log = on.open();
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix, signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    on.server.faults.inject('batch_append', { kind: 'late', ms: 100 });
    const last = log.append(stream, newEvents(1), { expected });
    await log.close();
    expect(await last).toMatchObject({ revision: 0n });
    const unavailable = { code: 'log_unavailable' };
    expect(await failureOf(log.append(stream, newEvents(1), { expected: 0n }))).toMatchObject(unavailable);
    expect(await failureOf(log.head())).toMatchObject(unavailable);
    expect(await failureOf(feed.until(() => false))).toMatchObject(unavailable);
    await log.close();
  });
});

/** Again while the server is being found: nothing is stored twice. */
async function untilKnown<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt === 10) throw error;
    }
  }
}
