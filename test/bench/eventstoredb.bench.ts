import type { Append, LogItem } from '../../src/event-log/event-log.js';
import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.js';
import { BareClient } from '../support/eventstoredb/bare-client.js';
import { startEventStoreDb } from '../support/eventstoredb/eventstoredb.js';
import { compared, rate, type BenchOptions, type BenchResult } from './bench.js';
import { each, eventsPerStream, newEvents, singleAppends } from './event-work.js';

const writers = 8;
const eventsPerWriter = 250;
const eventsToFollow = 4000;

/** Of what the client alone reaches, which checks nothing, keeps no deadline and loses the text of what it reads. */
const bars = { append: 0.7, subscribe: 0.6 };

/** Appends of single events by 8 writers, and catching up with a log, against the same with the client alone, on the same server. */
export async function eventStoreDbBench({ quick }: BenchOptions): Promise<BenchResult[]> {
  const rounds = quick ? 2 : 7;
  const server = await startEventStoreDb();
  const log = new EventStoreDbEventLog({ connectionString: server.connectionString });
  const client = new BareClient(server.connectionString);
  try {
    return [await appending(log, client, rounds), await following(log, client, rounds)];
  } finally {
    await client.close();
    await log.close();
    await server.stop();
  }
}

async function appending(log: EventStoreDbEventLog, client: BareClient, rounds: number): Promise<BenchResult> {
  const append = ({ stream, events, expected }: Append) => log.append(stream, events, { expected });
  const about = { name: `EventStoreDB: append, writers at once: ${writers}`, unit: 'events/s', bar: bars.append };
  return compared(about, rounds, () => {
    const work = Array.from({ length: writers }, () => singleAppends(eventsPerWriter));
    const count = writers * eventsPerWriter;
    return {
      ours: () => rate(count, () => Promise.all(work.map((appends) => each(appends, append)))),
      theirs: () => rate(count, () => Promise.all(work.map((appends) => each(renamed(appends), (one) => client.append(one))))),
    };
  });
}

async function following(log: EventStoreDbEventLog, client: BareClient, rounds: number): Promise<BenchResult> {
  const prefix = 'followed_';
  const after = await log.head();
  await log.appendMany(
    Array.from({ length: eventsToFollow / eventsPerStream }, (_, index): Append => {
      return { stream: `${prefix}loan-${index}`, events: newEvents(eventsPerStream), expected: 'no_stream' };
    }),
  );
  const about = { name: 'EventStoreDB: a subscription catches up', unit: 'events/s', bar: bars.subscribe };
  return compared(about, rounds, () => ({
    ours: () => rate(eventsToFollow, () => take(eventsToFollow, (signal) => log.subscribe({ after, prefix, signal }))),
    theirs: () => rate(eventsToFollow, () => client.follow(prefix, eventsToFollow)),
  }));
}

async function take(count: number, subscribe: (signal: AbortSignal) => AsyncIterable<LogItem>): Promise<void> {
  const abort = new AbortController();
  let taken = 0;
  for await (const { kind } of subscribe(abort.signal)) {
    if (kind === 'event') taken++;
    if (taken === count) abort.abort();
  }
}

/** The same to other streams. */
const renamed = (appends: readonly Append[]): Append[] =>
  appends.map((append) => ({ ...append, stream: `bare_${append.stream}` }));
