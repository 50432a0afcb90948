import pg from 'pg';
import { judgedCountersProjection } from '../../projections/judged-counters/judged-counters.projection.js';
import { findCandidates } from '../../projections/procedures/procedure-queries.js';
import { proceduresProjection } from '../../projections/procedures/procedures.projection.js';
import { SystemClock } from '../../src/config/clock.js';
import { readConfiguration } from '../../src/config/configuration.js';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import { EmbeddingGenerator } from '../../src/embedding/embedding-generator.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { Metrics } from '../../src/metrics/metrics.js';
import { RecallProcedures, RecallProceduresHandler } from '../../src/procedures/recall-procedures.handler.js';
import { type Sent, sentBy } from '../support/plans.js';
import { fillVectors, ProcedureLog, projectAll } from '../support/procedure-log.js';
import { median, type BenchResult } from './bench.js';

const rounds = 60;
const warmUp = 5;
const procedures = 10_000;
const team = '00000000-0000-4000-8000-00000000000a';
const scope = 'default';
const contract = { id: 'bench:512', dimensions: 512 };

/** Of the statements' own rate: a recall takes at most half as long again as the SQL it needs. */
const bar = 1 / 1.5;

/** Answers with a vector that is given, so that what is measured is the recall and no model. */
class GivenVector extends EmbeddingGenerator {
  readonly contract = contract;
  vector: number[] = [];

  embed(): Promise<number[][]> {
    return Promise.resolve([this.vector]);
  }
}

/** Recalls over 10,000 procedures of a scope, from the question's vector to ranked matches, against the SQL they need alone. */
export async function recallBench(databaseUrl: string): Promise<BenchResult[]> {
  const database = new Database(databaseUrl, false, 10);
  const bare = new pg.Client({ connectionString: databaseUrl });
  // An ended connection that the server drops with the database meanwhile.
  bare.on('error', () => undefined);
  await bare.connect();
  try {
    await migrate(database);
    const head = await fill(database);
    // Once for the session, where a recall opens a transaction for it each time.
    await bare.query(`SET ROLE mneme_app; SET mneme.team_id = '${team}'`);
    return await measured(database, bare, head);
  } finally {
    await bare.end();
    await database.close();
  }
}

/** @returns position of the last event */
async function fill(database: Database): Promise<bigint> {
  const log = new PostgresEventLog(database);
  try {
    const written = new ProcedureLog(log);
    await written.fill({ team, scope, procedures, runs: 2 });
    const projections = [proceduresProjection, judgedCountersProjection];
    await projectAll(database, { log, codec: written.codec, projections });
    await fillVectors(database, { contract: contract.id, dimensions: contract.dimensions });
    return await log.head();
  } finally {
    await log.close();
  }
}

async function measured(database: Database, bare: pg.Client, head: bigint): Promise<BenchResult[]> {
  const embedder = new GivenVector();
  const configuration = readConfiguration({});
  const handler = new RecallProceduresHandler(database, embedder, new SystemClock(), configuration, idleMetrics());
  const { signal } = new AbortController();
  const input = { scope, question: 'any', intent: undefined, top: 10, minSimilarity: 0 };
  const ours: number[] = [];
  const theirs: number[] = [];
  const past: number[] = [];
  for (let round = -warmUp; round < rounds; round++) {
    embedder.vector = vectorOf(round);
    const statement = await statementOf(embedder.vector, configuration.procedures.candidatePool);
    const one = await milliseconds(() => handler.execute(new RecallProcedures(team, input, signal)));
    const other = await milliseconds(() => bare.query(statement.sql, [...statement.values]));
    // Half of the log ago.
    const asOf = { position: head / 2n, time: new Date() };
    const before = await milliseconds(() => handler.execute(new RecallProcedures(team, input, signal, asOf)));
    if (round < 0) continue;
    ours.push(one);
    theirs.push(other);
    past.push(before);
  }
  const [value, baseline] = [1000 / median(ours), 1000 / median(theirs)];
  return [
    { name: 'recall over 10,000 procedures', unit: 'recalls/s', value, baseline, ratio: value / baseline, bar },
    { name: 'recall of the past over 10,000 procedures', unit: 'recalls/s', value: 1000 / median(past) },
  ];
}

/** What the product sends, taken from it. */
async function statementOf(vector: readonly number[], pool: number): Promise<Sent> {
  const search = { team, scope, intent: undefined, contract: contract.id, vector, pool };
  const [statement] = await sentBy((database) => database.asTeam(team, (queries) => findCandidates(queries, search)));
  if (!statement) throw new Error('the recall sent no statement');
  return statement;
}

const vectorOf = (round: number): number[] =>
  Array.from({ length: contract.dimensions }, (_, index) => Math.sin((round + 10) * (index + 1)));

const idleMetrics = () =>
  new Metrics({
    log: () => Promise.resolve(),
    projections: () => Promise.resolve([]),
    reactors: () => Promise.resolve([]),
    embeddings: () => Promise.reject(new Error('not scraped')),
  });

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
