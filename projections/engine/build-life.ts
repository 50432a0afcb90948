import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queries } from '../../src/database/database.js';
import { activateBuild, announceBuilds, deleteBuilding, insertBuild, nextBuildNumber, readBuilds, type Build } from './builds.js';
import type { Projection } from './projection.js';
import { createSchema, dropSchema, pointViews, schemaName } from './schema-sql.js';

/** Makes an empty build in a schema of its own. Run as the owner. @returns undefined when the projection has one already */
export async function makeBuild(queries: Queries, projection: Projection): Promise<Build | undefined> {
  const { name, version } = projection;
  const build = await nextBuildNumber(queries, name, version);
  const schema = schemaName(name, version, build);
  const made = { name, version, build, schema, state: 'building', position: -1n } as const;
  if (!(await insertBuild(queries, made))) return undefined;
  await queries.execute(createSchema(schema, projection));
  return { ...made, lastError: null, failedPosition: null };
}

/** Lets a build serve and join the group, at whose position it must be, and drops the one that served. Run as the owner. */
export async function serveBuild(queries: Queries, projection: Projection, { name, schema }: Build): Promise<void> {
  const served = (await readBuilds(queries)).filter((build) => build.name === name && build.schema !== schema);
  await activateBuild(queries, { name, schema });
  await queries.execute(pointViews(schema, projection));
  for (const build of served) await queries.execute(dropSchema(build.schema));
  await announceBuilds(queries);
}

/** Drops a build that is not finished; one that serves in the meantime stays. Run as the owner. */
export async function discardBuild(queries: Queries, schema: string): Promise<void> {
  if (await deleteBuilding(queries, schema)) await queries.execute(dropSchema(schema));
}

/**
 * Waits for readers whose snapshot is older than now, at most `patienceMs`. A view is looked up as it is, whatever the
 * reader's snapshot: one that began before a build's last rows were committed, and reads the view after the switch, would
 * miss those rows.
 */
export async function olderReadersDone(database: Database, patienceMs: number, signal: AbortSignal): Promise<void> {
  if (database.embedded) return; // One connection: nobody reads while we ask.
  const [now] = await database.query<{ now: string }>('SELECT clock_timestamp()::text AS now');
  const until = performance.now() + patienceMs;
  while (now && !signal.aborted && performance.now() < until && (await readersOlderThan(database, now.now)) > 0) await sleep(10);
}

async function readersOlderThan(database: Database, moment: string): Promise<number> {
  const [row] = await database.query<{ readers: number }>(
    `SELECT count(*)::int AS readers FROM pg_stat_activity
     WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
       AND backend_xmin IS NOT NULL AND xact_start < $1::timestamptz`,
    [moment],
  );
  return row?.readers ?? 0;
}
