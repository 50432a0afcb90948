import pg from 'pg';
import type { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { Projection } from '../../projections/engine/projection.js';
import { historyName, qualified } from '../../projections/engine/table-sql.js';
import { eventRefs, memoryIdsOf } from '../../projections/event-refs/event-refs.projection.js';
import { judgedCountersProjection } from '../../projections/judged-counters/judged-counters.projection.js';
import { eventCatalogue } from '../../src/all-events.js';
import type { Database } from '../../src/database/database.js';
import { against, median, rate, type BenchOptions, type BenchResult } from './bench.js';
import { copyIn, copyOut, inChunks } from './copy.js';
import { JudgedLog } from './judged-log.js';

/** Of the rate at which COPY takes the events out and puts the rows in, their indexes kept up. */
const bar = 0.3;
/** Events a second, where the machine has nothing else to do. */
const least = 20_000;

const refs = eventRefs(eventCatalogue.types, memoryIdsOf);

/** Building read models from event 0 beside those that serve, against COPY of the events and of the rows made of them. */
export async function replayBench(databaseUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const size = quick ? { events: 20_000, procedures: 300 } : { events: 200_000, procedures: 1_000 };
  const judged = await JudgedLog.open(databaseUrl, size);
  const copying = new pg.Client({ connectionString: databaseUrl });
  copying.on('error', () => undefined);
  await copying.connect();
  const engine = judged.engine([judgedCountersProjection, refs]);
  try {
    const first = await rate(size.events, () => judged.level(engine));
    const bench = new ReplayBench(judged.database, copying, engine, size.events);
    const counters = [judgedCountersProjection];
    return [
      { name: 'first start: both read models from event 0', unit: 'events/s', value: first },
      await bench.rebuilt('replay of judged counters', counters, quick ? 1 : 3),
      await bench.rebuilt('replay of judged counters and event_refs', [...counters, refs], quick ? 1 : 3),
    ];
  } finally {
    await engine.stop();
    await copying.end();
    await judged.close();
  }
}

class ReplayBench {
  constructor(
    private readonly database: Database,
    private readonly copying: pg.Client,
    private readonly engine: ProjectionEngine,
    private readonly events: number,
  ) {}

  async rebuilt(name: string, projections: readonly Projection[], rounds: number): Promise<BenchResult> {
    const [ours, theirs, cpu]: [number[], number[], number[]] = [[], [], []];
    for (let round = 0; round < rounds; round++) {
      const before = process.cpuUsage();
      ours.push(await rate(this.events, () => this.rebuild(projections)));
      cpu.push((process.cpuUsage(before).user / this.events) * 0.1);
      theirs.push(this.events / (await this.copySeconds(projections)));
      for (const projection of projections) await this.engine.drop(projection.name, 'ready');
    }
    const note = `${median(cpu).toFixed(1)} s of CPU in this process a 100,000 events`;
    return against({ name, unit: 'events/s', bar, least, note }, median(ours), median(theirs));
  }

  /** Until the new builds are level with the log; comparing them with those that serve, and the switch, are not in it. */
  private async rebuild(projections: readonly Projection[]): Promise<void> {
    await Promise.all(projections.map(({ name }) => this.engine.rebuild(name, { hold: true })));
  }

  private async copySeconds(projections: readonly Projection[]): Promise<number> {
    const types = [...new Set(projections.flatMap(({ eventTypes }) => eventTypes))].map((type) => `'${type}'`).join();
    let seconds = await timed(() =>
      copyOut(this.copying, `SELECT * FROM mneme.events WHERE type IN (${types}) ORDER BY position`),
    );
    for (const { table, schema } of await this.tables(projections)) {
      const rows = inChunks(await copyOut(this.copying, `SELECT * FROM ${qualified(schema, table)}`));
      const bare = `bare.${table}`;
      await this.copying.query(`CREATE SCHEMA IF NOT EXISTS bare; DROP TABLE IF EXISTS ${bare}`);
      await this.copying.query(`CREATE TABLE ${bare} (LIKE ${qualified(schema, table)} INCLUDING ALL)`);
      seconds += await timed(() => copyIn(this.copying, bare, rows));
    }
    return seconds;
  }

  private async tables(projections: readonly Projection[]): Promise<{ table: string; schema: string }[]> {
    const builds = await this.database.query<{ name: string; schema: string }>(
      `SELECT name, schema_name AS schema FROM mneme.projection_builds WHERE role = 'serving' AND state = 'active'`,
    );
    return projections.flatMap(({ name, tables }) => {
      const schema = builds.find((build) => build.name === name)?.schema ?? '';
      return tables
        .flatMap((table) => [table.name, ...(table.history ? [historyName(table.name)] : [])])
        .map((table) => ({ table, schema }));
    });
  }
}

const timed = async (work: () => Promise<unknown>): Promise<number> => 1 / (await rate(1, work));
