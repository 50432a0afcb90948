import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import type { Append, NewEvent } from '../../src/event-log/event-log.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { median, rate, type BenchResult } from './bench.js';

const rounds = 15;
const eventsPerWriter = 150;
/** A new stream every so many events, as memories are short streams. */
const eventsPerStream = 5;

/** Of what plain autocommit INSERTs of 8 connections reach; they take no lock, check nothing and skip events for readers. */
const bar = 0.7;

/** The same columns and indexes; the position comes from a sequence. */
const bareTable = `
  CREATE TABLE bare_events (
    position bigserial PRIMARY KEY,
    stream text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    event_id uuid NOT NULL,
    type text NOT NULL,
    data text NOT NULL,
    metadata text NOT NULL,
    recorded_at timestamptz(3) NOT NULL DEFAULT clock_timestamp(),
    UNIQUE (stream, revision),
    UNIQUE (stream, event_id)
  )`;
/** Named, so that the server parses it once for each connection: nothing inserts single rows faster. */
const bareInsert = `INSERT INTO bare_events (stream, revision, event_id, type, data, metadata) VALUES ($1, $2, $3, $4, $5, $6)`;

/** Appends of single events by 8 writers against bare INSERTs of the same rows, and the rates of one writer and of bulk. */
export async function appendBench(databaseUrl: string): Promise<BenchResult[]> {
  const database = new Database(databaseUrl, false, 10);
  const bare = new pg.Pool({ connectionString: databaseUrl, max: 8 });
  // Ended connections that the server drops with the database meanwhile.
  bare.on('error', () => undefined);
  await migrate(database);
  await bare.query(bareTable);
  const log = new PostgresEventLog(database);
  try {
    return [{ ...(await compared(log, bare, 8)), bar }, await compared(log, bare, 1), await bulk(log)];
  } finally {
    await log.close();
    await bare.end();
    await database.close();
  }
}

async function compared(log: PostgresEventLog, bare: pg.Pool, writers: number): Promise<Required<Omit<BenchResult, 'bar'>>> {
  const ours: number[] = [];
  const theirs: number[] = [];
  // Round 0 warms up connections and plans and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const work = Array.from({ length: writers }, () => singleAppends(eventsPerWriter));
    const one = await rate(writers * eventsPerWriter, () => Promise.all(work.map((appends) => appendEach(log, appends))));
    const other = await rate(writers * eventsPerWriter, () => Promise.all(work.map((appends) => insertEach(bare, appends))));
    if (round === 0) continue;
    ours.push(one);
    theirs.push(other);
  }
  const [value, baseline] = [median(ours), median(theirs)];
  return { name: `append, writers at once: ${writers}`, unit: 'events/s', value, baseline, ratio: value / baseline };
}

async function bulk(log: PostgresEventLog): Promise<BenchResult> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const appends = Array.from({ length: 1000 }, (): Append => {
      return { stream: `bench_loan-${randomUUID()}`, events: newEvents(eventsPerStream), expected: 'no_stream' };
    });
    rates.push(await rate(appends.length * eventsPerStream, () => log.appendMany(appends)));
  }
  return { name: 'append of many, 1,000 streams of 5', unit: 'events/s', value: median(rates) };
}

function singleAppends(count: number): Append[] {
  let stream = '';
  return newEvents(count).map((event, index) => {
    const revision = BigInt(index % eventsPerStream);
    if (revision === 0n) stream = `bench_loan-${randomUUID()}`;
    return { stream, events: [event], expected: revision === 0n ? 'no_stream' : revision - 1n };
  });
}

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

async function appendEach(log: PostgresEventLog, appends: readonly Append[]): Promise<void> {
  for (const { stream, events, expected } of appends) await log.append(stream, events, { expected });
}

async function insertEach(pool: pg.Pool, appends: readonly Append[]): Promise<void> {
  for (const { stream, events, expected } of appends) {
    const revision = expected === 'no_stream' ? 0n : expected + 1n;
    for (const { id, type, data, metadata } of events)
      await pool.query({ name: 'bare_insert', text: bareInsert, values: [stream, revision, id, type, data, metadata] });
  }
}
