import { setTimeout as sleep } from 'node:timers/promises';
import type { Database, Queries } from '../../src/database/database.js';
import {
  deleteBuild,
  insertBuild,
  joinBuild,
  nextBuildNumber,
  retireBuild,
  type Build,
  type BuildRole,
  type Filler,
} from './builds.js';
import { announceBuilds } from './checkpoint.js';
import type { Projection } from './projection.js';
import { createSchema, dropSchema, dropViews, pointViews, schemaName, viewsOf } from './schema-sql.js';

/** Makes an empty build in a schema of its own. Run as the owner. @returns undefined when the projection has one that is coming already */
export async function makeBuild(
  queries: Queries,
  projection: Projection,
  role: BuildRole,
  filler: Filler,
): Promise<Build | undefined> {
  const { name, version } = projection;
  const build = await nextBuildNumber(queries, name, version);
  const schema = schemaName(name, version, build);
  const made = { name, version, build, schema, role };
  if (!(await insertBuild(queries, made, filler))) return undefined;
  await queries.execute(createSchema(schema, projection));
  // Where nothing serves, readers see the build as it grows.
  if (role === 'serving') await queries.execute(pointViews(schema, projection));
  return {
    ...made,
    state: 'building',
    position: -1n,
    lastError: null,
    failedPosition: null,
    filler: filler.id,
    filling: true,
    joined: false,
    purging: false,
    torn: false,
  };
}

/** Lets a build join the group, at whose position it must be. Run as the owner, with the group locked. */
export async function admitBuild(queries: Queries, { schema }: Pick<Build, 'schema'>): Promise<void> {
  await joinBuild(queries, schema);
  await announceBuilds(queries);
}

/** Points the stable names at a build instead of the one they point at. Run as the owner. */
export async function serveBuild(queries: Queries, projection: Projection, schema: string, former: string): Promise<void> {
  const views = await queries.query<{ name: string }>(viewsOf, [former]);
  // The former may have tables that this one has not.
  if (views.length > 0) await queries.execute(dropViews(views.map(({ name }) => name)));
  await queries.execute(pointViews(schema, projection));
}

/** Drops a build that does not serve; it is not made again by itself. Run as the owner, with the group locked. */
export async function dropBuild(queries: Queries, schema: string): Promise<void> {
  await retireBuild(queries, schema);
  await queries.execute(dropSchema(schema));
  await announceBuilds(queries);
}

/** Makes room for another build of the same name. Run as the owner, with the group locked. */
export async function replaceBuild(queries: Queries, schema: string): Promise<void> {
  if (!(await deleteBuild(queries, schema, ['building', 'stopped']))) return dropBuild(queries, schema);
  await queries.execute(dropSchema(schema));
  await announceBuilds(queries);
}

/** Drops a build that is not finished; one that is in the meantime stays. Run as the owner. */
export async function discardBuild(queries: Queries, schema: string): Promise<void> {
  if (await deleteBuild(queries, schema, ['building'])) await queries.execute(dropSchema(schema));
}

/**
 * Waits for readers whose snapshot is older than the moment, at most `patienceMs`. A view is looked up as it is, whatever the
 * reader's snapshot: one that began before a build's last rows were committed, and reads the view after the switch, would
 * miss those rows.
 */
export async function olderReadersDone(
  database: Database,
  moment: string,
  { patienceMs, signal }: { patienceMs: number; signal: AbortSignal },
): Promise<void> {
  if (database.embedded) return; // One connection: nobody reads while we ask.
  const until = performance.now() + patienceMs;
  while (!signal.aborted && performance.now() < until && (await readersOlderThan(database, moment)) > 0) await sleep(10);
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
