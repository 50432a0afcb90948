import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import type { Append } from '../../src/event-log/event-log.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { compared, median, rate, type BenchOptions, type BenchResult } from './bench.js';
import { each, eventsPerStream, newEvents, singleAppends } from './event-work.js';

const eventsPerWriter = 150;

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
export async function appendBench(databaseUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const rounds = quick ? 3 : 15;
  const database = new Database(databaseUrl, false, 10);
  const bare = new pg.Pool({ connectionString: databaseUrl, max: 8 });
  // Ended connections that the server drops with the database meanwhile.
  bare.on('error', () => undefined);
  await migrate(database);
  await bare.query(bareTable);
  const log = new PostgresEventLog(database);
  try {
    return [await byWriters(log, bare, 8, rounds), await byWriters(log, bare, 1, rounds), await bulk(log, rounds)];
  } finally {
    await log.close();
    await bare.end();
    await database.close();
  }
}

function byWriters(log: PostgresEventLog, bare: pg.Pool, writers: number, rounds: number): Promise<BenchResult> {
  const about = { name: `append, writers at once: ${writers}`, unit: 'events/s', ...(writers > 1 && { bar }) };
  return compared(about, rounds, () => {
    const count = writers * eventsPerWriter;
    const work = Array.from({ length: writers }, () => singleAppends(eventsPerWriter));
    const append = ({ stream, events, expected }: Append) => log.append(stream, events, { expected });
    return {
      ours: () => rate(count, () => Promise.all(work.map((appends) => each(appends, append)))),
      theirs: () => rate(count, () => Promise.all(work.map((appends) => each(appends, (one) => insert(bare, one))))),
    };
  });
}

async function bulk(log: PostgresEventLog, rounds: number): Promise<BenchResult> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const appends = Array.from({ length: 1000 }, (): Append => {
      return { stream: `bench_loan-${randomUUID()}`, events: newEvents(eventsPerStream), expected: 'no_stream' };
    });
    rates.push(await rate(appends.length * eventsPerStream, () => log.appendMany(appends)));
  }
  return { name: 'append of many, 1,000 streams of 5', unit: 'events/s', value: median(rates) };
}

async function insert(pool: pg.Pool, { stream, events, expected }: Append): Promise<void> {
  const revision = expected === 'no_stream' ? 0n : expected + 1n;
  for (const { id, type, data, metadata } of events)
    await pool.query({ name: 'bare_insert', text: bareInsert, values: [stream, revision, id, type, data, metadata] });
}
