import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { inspect, promisify } from 'node:util';
import { Feed } from '../../../test/contract/feed.js';
import { all, given, ids, newEvent, newEvents, told } from '../../../test/contract/log-under-test.js';
import { EventStoreDbForTests, failureOf } from '../../../test/support/eventstoredb-log.js';
import { FixedKeys } from '../../../test/support/fixed-keys.js';
import {
  contextOf,
  noteCatalogue,
  noteStream,
  noteStreamName,
  noteTaken,
  prefix,
  type NoteEvent,
} from '../../../test/support/notes.js';
import { compiledFile } from '../../config/package-root.js';
import { Codec } from '../codec.js';
import { executeCommand } from '../execute.js';
import { newCommandId } from '../ids.js';
import { Streams } from '../streams.js';
import { EventStoreDbEventLog } from './eventstoredb-event-log.js';

const stream = 'mneme_loan-1';
const expected = 'no_stream' as const;

/** Each test is named after a trap of the client or the server, and fails when its guard is taken away. */
describe('a trap of the EventStoreDB client', () => {
  const on = new EventStoreDbForTests();
  beforeEach(() => on.start());
  afterEach(() => on.stop());

  describe('an append never settles when the server', () => {
    it.each([false, true])('stays silent (stored: %s)', async (stored) => {
      const log = on.open({ appendDeadlineMs: 1_000 });
      const events = newEvents(2);
      await log.head(); // The deadline is for the append, not for the first connection.
      on.server.faults.inject('batch_append', { kind: 'silence', stored });
      const started = performance.now();
      expect(await failureOf(log.append(stream, events, { expected }))).toMatchObject({ code: 'append_outcome_unknown' });
      expect(performance.now() - started).toBeLessThan(5000);
      expect(await log.append(stream, events, { expected })).toMatchObject({ revision: 1n });
      expect(ids(await all(log.readStream(stream)))).toEqual(ids(events));
    });

    it.each([false, true])('ends the stream of appends without an error (stored: %s)', async (stored) => {
      const log = on.open();
      const events = newEvents(2);
      on.server.faults.inject('batch_append', { kind: 'end', stored });
      const started = performance.now();
      expect(await failureOf(log.append(stream, events, { expected }))).toMatchObject({ code: 'append_outcome_unknown' });
      expect(performance.now() - started).toBeLessThan(5000);
      expect(await log.append(stream, events, { expected })).toMatchObject({ revision: 1n });
      expect(ids(await all(log.readStream(stream)))).toEqual(ids(events));
    });

    it('does not say what it can do', async () => {
      const log = on.open({ appendDeadlineMs: 1_000 });
      on.server.faults.inject('server_features', { kind: 'silence' });
      expect(await failureOf(log.append(stream, newEvents(1), { expected }))).toMatchObject({ code: 'log_unavailable' });
      await log.append(stream, newEvents(1), { expected });
    });
  });

  it('a repeated id is recognised only at the same expected revision', async () => {
    const log = on.open({ appendDeadlineMs: 1_000 });
    const events = newEvents(1);
    await log.append(stream, events, { expected });
    await log.append(stream, events, { expected: 0n });
    expect(ids(await all(log.readStream(stream)))).toEqual(ids([...events, ...events]));

    const streams = new Streams(log, new Codec(noteCatalogue, new FixedKeys(), prefix));
    const id = newCommandId();
    const command = { stream: noteStream(id), context: contextOf(), decide: () => [noteTaken(id, 'once')] };
    on.server.faults.inject('batch_append', { kind: 'silence', stored: true }, { stream: noteStreamName(id) });
    const outcomes = [await executeCommand<NoteEvent>(streams, command), await executeCommand<NoteEvent>(streams, command)];
    expect(outcomes.map(({ outcome, revision }) => [outcome, revision])).toEqual([
      ['appended', 0n],
      ['repeated', 0n],
    ]);
    expect(await all(log.readStream(noteStreamName(id)))).toHaveLength(1);
  });

  it('a payload that cannot be written as JSON ends the process and never settles', async () => {
    const log = on.open();
    const deep = '['.repeat(50_000) + ']'.repeat(50_000);
    const events = [
      { ...newEvent(), data: deep, metadata: deep },
      { ...newEvent(), data: '{"9":1,"10":2,"1e2":1e2}' },
    ];
    await log.append(stream, events, { expected });
    expect((await all(log.readStream(stream))).map(given)).toEqual(events);
    expect(await failureOf(log.append(stream, [{ ...newEvent(), data: '{"n":1n}' }], { expected: 1n }))).toMatchObject({
      code: 'invalid_append',
    });
  });

  it('checkpoints and caughtUp come before the events that were sent before them', async () => {
    const log = on.open({ watchdogMs: 60_000 });
    for (let round = 0; round < 4; round++) {
      for (let count = 0n; count < 3n; count++)
        await log.append(`other-${round}`, newEvents(400), { expected: count === 0n ? expected : count * 400n - 1n });
      await log.append(`${stream}-${round}`, newEvents(40), { expected });
    }
    const seen: bigint[] = [];
    let [checkpoints, late] = [0, 0n];
    const abort = new AbortController();
    for await (const item of log.subscribe({ after: -1n, prefix: 'mneme_', signal: abort.signal })) {
      await new Promise((resolve) => setImmediate(resolve)); // behind the server, so that the client has something to hold
      if (item.kind === 'event' && item.event.position < late) throw new Error('an event after the word that it had been seen');
      if (item.kind === 'event') seen.push(item.event.revision);
      else late = item.position;
      if (item.kind === 'checkpoint') checkpoints++;
      if (item.kind === 'caught_up') abort.abort();
    }
    expect(seen).toHaveLength(160);
    expect(checkpoints).toBeGreaterThan(0);
  });

  it('a connect error before anyone listens is an uncaught error event', async () => {
    await on.server.pause();
    const log = on.open();
    const { signal } = new AbortController();
    const subscription = log.subscribe({ after: -1n, prefix: 'mneme_', signal })[Symbol.asyncIterator]();
    expect(await failureOf(subscription.next())).toMatchObject({ code: 'log_unavailable' });
    await on.server.restart();
    const dying = log.subscribe({ after: -1n, prefix: 'mneme_', signal })[Symbol.asyncIterator]();
    await dying.next();
    on.server.kill(); // while nobody takes anything
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(await failureOf(exhaust(dying))).toMatchObject({ code: 'log_unavailable' });
  });

  it('the server may end a subscription with no error', async () => {
    const log = on.open({ watchdogMs: 60_000 });
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix: 'mneme_', signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    await on.server.requests.until('subscribe');
    while (on.server.faults.strike('subscribe', { kind: 'end' }) === 0) await new Promise((resolve) => setImmediate(resolve));
    expect(await failureOf(feed.until(() => false))).toMatchObject({ code: 'log_unavailable' });
  });

  it('a subscription may die in silence', async () => {
    const log = on.open();
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix: 'mneme_', signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    await on.server.requests.until('subscribe');
    while (on.server.faults.strike('subscribe', { kind: 'silence' }) === 0) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setTimeout(resolve, 400)); // nothing to tell: it is not held against it
    await log.append(stream, newEvents(1), { expected });
    expect(await failureOf(feed.until(() => false))).toMatchObject({ code: 'log_unavailable' });
    expect(feed.events).toEqual([]);
  });

  it('a read that is left before its end is kept for ever', async () => {
    const log = on.open();
    await log.append(stream, newEvents(200), { expected });
    expect(await openCallsAfterReadsElsewhere(on.server.connectionString)).toBe(0);
  });

  it('a failed discovery is a plain error, and appends fail with it for ever after', async () => {
    const log = on.open({ connectionString: on.server.discoveryString.replace('?', '?maxDiscoverAttempts=1&') });
    on.server.faults.inject('gossip', { kind: 'unavailable' }, { times: 3 });
    expect(await failureOf(log.append(stream, newEvents(1), { expected }))).toMatchObject({ code: 'log_unavailable' });
    expect(await failureOf(log.head())).toMatchObject({ code: 'log_unavailable' });
    const { signal } = new AbortController();
    expect(await failureOf(all(log.subscribe({ after: -1n, prefix: 'mneme_', signal })))).toMatchObject({
      code: 'log_unavailable',
    });
    expect(await log.append(stream, newEvents(1), { expected })).toMatchObject({ revision: 0n });
  });

  it('what a server can do is asked once, and a failure to tell is kept for ever', async () => {
    const log = on.open();
    on.server.faults.inject('server_features', { kind: 'unknown' });
    expect(await failureOf(log.append(stream, newEvents(1), { expected }))).toMatchObject({ code: 'log_unavailable' });
    expect(await log.append(stream, newEvents(1), { expected })).toMatchObject({ revision: 0n });
  });

  it('an append result may lack its position', async () => {
    const log = on.open();
    on.server.faults.inject('batch_append', { kind: 'no_position' }, { times: 2 });
    const events = newEvents(3);
    const first = await log.append(stream, events, { expected });
    await log.append(stream, newEvents(1), { expected: 2n });
    const stored = await all(log.readStream(stream));
    expect(first).toEqual({ revision: 2n, position: stored[2]?.position });
    on.server.faults.inject('batch_append', { kind: 'no_position' });
    expect(await log.append(stream, events, { expected })).toEqual(first);
  });

  describe('appends that wait are kept for all clients of the process together', () => {
    it('so its logs share one client', async () => {
      const [one, two] = [on.open(), on.open()];
      await one.append(stream, newEvents(1), { expected });
      await two.append(stream, newEvents(1), { expected: 0n });
      expect(on.server.requests.of('server_features')).toHaveLength(1);
      await one.close();
      await two.append(stream, newEvents(1), { expected: 1n });
    });

    it('and a log on another server is refused until the first is closed', async () => {
      const log = on.open();
      const elsewhere = 'esdb://admin:changeit@127.0.0.1:1?tls=false';
      expect(() => new EventStoreDbEventLog({ connectionString: elsewhere })).toThrow(/close that event log first/);
      await log.close();
      const moved = new EventStoreDbEventLog({ connectionString: elsewhere });
      expect(() => on.open()).toThrow(/^(?!.*changeit).*esdb:\/\/\*\*\*@127.0.0.1:1/);
      await moved.close();
    });
  });

  it.each(['throwOnAppendFailure=false', 'tlsVerifyCert=false', 'nodePreference=follower', 'frobnicate=1'])(
    'the option %s does harm or nothing',
    (option) => {
      const connectionString = `esdb://admin:changeit@localhost:2113?${option}`;
      expect(() => new EventStoreDbEventLog({ connectionString })).toThrow(/^(?!.*changeit)/);
      expect(() => new EventStoreDbEventLog({ connectionString })).toThrow(
        expect.objectContaining({ code: 'invalid_connection_string' }) as Error,
      );
    },
  );

  it('kurrentdb:// is refused without a word that helps', () =>
    expect(() => new EventStoreDbEventLog({ connectionString: 'kurrentdb://localhost:2113' })).toThrow(/write esdb:\/\//));

  it('a late or second answer to an append ends the process', async () => {
    const log = on.open({ appendDeadlineMs: 1_000 });
    on.server.faults.inject('batch_append', { kind: 'duplicate' });
    await log.append(stream, newEvents(1), { expected });
    on.server.faults.inject('batch_append', { kind: 'late', ms: 1_500 });
    expect(await failureOf(log.append(stream, newEvents(1), { expected: 0n }))).toMatchObject({
      code: 'append_outcome_unknown',
    });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await log.append(stream, newEvents(1), { expected: 1n })).toMatchObject({ revision: 2n });
  });

  it('a full stream of appends that fails ends the process', async () => {
    const log = on.open();
    const text = JSON.stringify('x'.repeat(200_000));
    const appends = Array.from({ length: 60 }, (_, index) => ({
      stream: `${stream}-${index}`,
      events: [newEvent(text)],
      expected,
    }));
    await log.head();
    const outcomes = log.appendMany(appends);
    await on.server.requests.until('batch_append');
    on.server.kill();
    const failed = new Set((await outcomes).map(told).filter((outcome) => typeof outcome !== 'bigint'));
    for (const outcome of failed) expect(['append_outcome_unknown', 'log_unavailable']).toContain(outcome);
    expect(failed.size).toBeGreaterThan(0);
    expect(new Set((await log.appendMany(appends)).map(told))).toEqual(new Set([0n]));
  });

  it('a checkpoint may lie where the next event will be', async () => {
    await on.stop();
    await on.start({ checkpointsAhead: true });
    const log = on.open();
    // The last page is full, which is when these servers look once more, find nothing and tell of the end.
    const before = BigInt(on.server.events().length);
    await log.append('other-1', newEvents(500 - Number(before)), { expected });
    const feed = new Feed((signal) => log.subscribe({ after: -1n, prefix: 'mneme_', signal }));
    await feed.until((items) => items.some(({ kind }) => kind === 'caught_up'));
    await feed.stop();
    const seen = feed.items.map((item) => (item.kind === 'event' ? item.event.position : item.position));
    const { position } = await log.append(stream, newEvents(1), { expected });
    for (const place of seen) expect(place).toBeLessThan(position);
  });

  it('a server whose clock is ahead refuses every append in time', async () => {
    await on.stop();
    await on.start({ now: () => new Date(Date.now() + 5 * 60_000) });
    expect(await on.open().append(stream, newEvents(1), { expected })).toMatchObject({ revision: 0n });
  });

  it('DEBUG=esdb:* prints the password', async () => {
    const require = createRequire(import.meta.url);
    const debug = createRequire(require.resolve('@eventstore/db-client'))('debug') as Debug;
    const printed: unknown[] = [];
    const { log: print } = debug;
    debug.log = (...args) => printed.push(args);
    debug.enable('esdb:*');
    try {
      const log = on.open({ connectionString: on.server.connectionString.replace('esdb://', 'esdb://admin:open%20sesame@') });
      await log.append(stream, newEvents(1), { expected });
    } finally {
      debug.disable();
      debug.log = print;
    }
    expect(printed.length).toBeGreaterThan(0);
    expect(inspect(printed, { depth: 10 })).not.toMatch(/sesame/);
  });
});

interface Debug {
  log: (...args: unknown[]) => void;
  enable(namespaces: string): void;
  disable(): void;
}

async function exhaust(iterator: AsyncIterator<unknown>): Promise<void> {
  while (!(await iterator.next()).done);
}

/** In a process of its own: where the server is not in the same one, the last items and the end of a call come apart. */
async function openCallsAfterReadsElsewhere(connectionString: string): Promise<number> {
  const compiled = compiledFile('src/event-log/eventstoredb/eventstoredb-event-log.js');
  const script = `
    const { EventStoreDbEventLog } = await import(${JSON.stringify(pathToFileURL(compiled).href)});
    const log = new EventStoreDbEventLog({ connectionString: ${JSON.stringify(connectionString)} });
    const client = await log.connection.client();
    for (let reads = 0; reads < 50; reads += 1) {
      await log.head();
      for await (const event of log.readAll({ after: -1n, prefix: 'mneme_', until: 1_000_000n })) break;
    }
    for (let looks = 0; client.openCalls > 0 && looks < 500; looks += 1) await new Promise((next) => setTimeout(next, 10));
    console.log(client.openCalls);
    process.exit(0);`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  return Number(stdout);
}
