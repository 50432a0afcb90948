import type { Database } from '../../src/database/database.js';
import { Codec } from '../../src/event-log/codec.js';
import { EventCatalogue } from '../../src/event-log/event-catalogue.js';
import type { EventLog } from '../../src/event-log/event-log.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { Streams } from '../../src/event-log/streams.js';
import { operationEvents } from '../../src/operations/operation.js';
import { StreamOperations } from '../../src/operations/stream-operations.js';
import { ProjectionEngine, type ProjectionEngineOptions } from '../../projections/engine/projection-engine.js';
import type { Projection, Row } from '../../projections/engine/projection.js';
import { shapeOf } from '../../projections/engine/table-shape.js';
import { historyColumns, historyName, list, qualified } from '../../projections/engine/table-sql.js';
import { Library, libraryPrefix } from './library.js';

export const testLogId = 'log-of-the-test';

/** Takes all events, checkpoints and read models away, so that a file need not migrate anew for every case. */
export async function emptyLog(database: Database): Promise<void> {
  await dropReadModels(database);
  await database.query('TRUNCATE mneme.events');
}

/** Takes all checkpoints and read models away: an engine that starts then makes them anew. */
export async function dropReadModels(database: Database): Promise<void> {
  const schemas = await database.query<{ name: string }>(
    `SELECT schema_name AS name FROM mneme.projection_builds WHERE state <> 'retired'`,
  );
  for (const { name } of schemas) await database.query(`DROP SCHEMA IF EXISTS "${name}" CASCADE`);
  await database.query('TRUNCATE mneme.projection_group, mneme.projection_builds, mneme.projection_switches');
}

/** A log with its library, and engines that are stopped at the end. */
export class Stage {
  readonly log: EventLog;
  readonly library: Library;
  readonly operations: StreamOperations;
  private readonly engines: ProjectionEngine[] = [];

  constructor(readonly database: Database) {
    this.log = new PostgresEventLog(database, { pollMs: 5 });
    this.library = new Library(this.log);
    const codec = new Codec(new EventCatalogue([operationEvents]), this.library.keys, libraryPrefix);
    this.operations = new StreamOperations(new Streams(this.log, codec));
  }

  engine(projections: readonly Projection[], options: Partial<ProjectionEngineOptions> = {}): ProjectionEngine {
    const { database, log, library, operations } = this;
    const engine = new ProjectionEngine({
      database,
      log,
      codec: library.codec,
      logId: testLogId,
      projections,
      operations,
      tendMs: 50,
      ...options,
    });
    this.engines.push(engine);
    return engine;
  }

  /** An engine that has applied everything there is. */
  async projected(projections: readonly Projection[], options: Partial<ProjectionEngineOptions> = {}): Promise<ProjectionEngine> {
    const engine = this.engine(projections, options);
    await engine.start();
    await this.level(engine);
    return engine;
  }

  async level(engine: ProjectionEngine): Promise<void> {
    const { reached } = await engine.waitFor(await this.log.head(), 20_000, []);
    if (!reached)
      throw new Error(`not level with the log: ${JSON.stringify(await engine.status(), (_, value: unknown) => String(value))}`);
  }

  async end(): Promise<void> {
    for (const engine of this.engines) await engine.stop();
  }
}

/** All event-derived rows of a projection, current and historical, by table and in key order. */
export async function rowsOf(database: Database, { tables }: Projection, schema = 'mneme_read'): Promise<Record<string, Row[]>> {
  const rows: Record<string, Row[]> = {};
  for (const table of tables) {
    const shape = shapeOf(table);
    const order = list(shape.key);
    rows[table.name] = await database.query<Row>(
      `SELECT ${list(shape.columns)} FROM ${qualified(schema, table.name)} ORDER BY ${order}`,
    );
    if (!shape.history) continue;
    const history = historyName(table.name);
    rows[history] = await database.query<Row>(
      `SELECT ${list(historyColumns(shape))} FROM ${qualified(schema, history)} ORDER BY ${order}, position`,
    );
  }
  return rows;
}
