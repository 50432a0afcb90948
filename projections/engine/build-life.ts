import type { Queries } from '../../src/database/database.js';
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
