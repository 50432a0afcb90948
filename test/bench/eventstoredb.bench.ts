import { randomUUID } from 'node:crypto';
import type { Append, LogItem, NewEvent } from '../../src/event-log/event-log.js';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.js';
import { BareClient } from '../support/eventstoredb/bare-client.js';
import { startEventStoreDb } from '../support/eventstoredb/eventstoredb.js';
import { median, rate, type BenchResult } from './bench.js';

const rounds = 7;
const writers = 8;
const eventsPerWriter = 250;
/** A new stream every so many events, as memories are short streams. */
const eventsPerStream = 5;
const eventsToFollow = 4000;

/** Of what the client alone reaches, which checks nothing, keeps no deadline and loses the text of what it reads. */
const bars = { append: 0.7, subscribe: 0.6 };

/** Appends of single events by 8 writers, and catching up with a log, against the same with the client alone, on the same server. */
export async function eventStoreDbBench(): Promise<BenchResult[]> {
  const server = await startEventStoreDb();
  const log = new EventStoreDbEventLog({ connectionString: server.connectionString });
  const client = new BareClient(server.connectionString);
  try {
    return [await appending(log, client), await following(log, client)];
  } finally {
    await client.close();
    await log.close();
    await server.stop();
  }
}

async function appending(log: EventStoreDbEventLog, client: BareClient): Promise<BenchResult> {
  const append = ({ stream, events, expected }: Append) => log.append(stream, events, { expected });
  return compared(`EventStoreDB: append, writers at once: ${writers}`, bars.append, () => {
    const work = Array.from({ length: writers }, () => singleAppends(eventsPerWriter));
    const count = writers * eventsPerWriter;
    return {
      ours: () => rate(count, () => Promise.all(work.map((appends) => each(appends, append)))),
      theirs: () => rate(count, () => Promise.all(work.map((appends) => each(renamed(appends), (one) => client.append(one))))),
    };
  });
}

async function following(log: EventStoreDbEventLog, client: BareClient): Promise<BenchResult> {
  const prefix = 'followed_';
  const after = await log.head();
  await log.appendMany(
    Array.from({ length: eventsToFollow / eventsPerStream }, (_, index): Append => {
      return { stream: `${prefix}loan-${index}`, events: newEvents(eventsPerStream), expected: 'no_stream' };
    }),
  );
  return compared('EventStoreDB: a subscription catches up', bars.subscribe, () => ({
    ours: () => rate(eventsToFollow, () => take(eventsToFollow, (signal) => log.subscribe({ after, prefix, signal }))),
    theirs: () => rate(eventsToFollow, () => client.follow(prefix, eventsToFollow)),
  }));
}

interface Round {
  readonly ours: () => Promise<number>;
  readonly theirs: () => Promise<number>;
}

async function compared(name: string, bar: number, round: () => Round): Promise<BenchResult> {
  const ours: number[] = [];
  const theirs: number[] = [];
  // Round 0 warms up and is not counted.
  for (let count = 0; count <= rounds; count++) {
    const work = round();
    const [one, other] = [await work.ours(), await work.theirs()];
    if (count === 0) continue;
    ours.push(one);
    theirs.push(other);
  }
  const [value, baseline] = [median(ours), median(theirs)];
  return { name, unit: 'events/s', value, baseline, ratio: value / baseline, bar };
}

async function take(count: number, subscribe: (signal: AbortSignal) => AsyncIterable<LogItem>): Promise<void> {
  const abort = new AbortController();
  let taken = 0;
  for await (const { kind } of subscribe(abort.signal)) {
    if (kind === 'event') taken++;
    if (taken === count) abort.abort();
  }
}

async function each(appends: readonly Append[], send: (append: Append) => Promise<unknown>): Promise<void> {
  for (const append of appends) await send(append);
}

function singleAppends(count: number): Append[] {
  let stream = '';
  return newEvents(count).map((event, index) => {
    const revision = BigInt(index % eventsPerStream);
    if (revision === 0n) stream = `bench_loan-${randomUUID()}`;
    return { stream, events: [event], expected: revision === 0n ? 'no_stream' : revision - 1n };
  });
}

/** The same to other streams. */
const renamed = (appends: readonly Append[]): Append[] =>
  appends.map((append) => ({ ...append, stream: `bare_${append.stream}` }));

/** About 600 bytes of JSON each, most of it incompressible like ciphertext. */
const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: 'BookLent',
    data: JSON.stringify({ book: randomUUID(), due: '2026-05-01T00:00:00.000Z', sealed: { note: randomUUID().repeat(7) } }),
    metadata: JSON.stringify({
      $correlationId: randomUUID(),
      $causationId: randomUUID(),
      team: randomUUID(),
      schema_version: '1',
    }),
  }));
