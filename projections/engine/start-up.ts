import type { Queries } from '../../src/database/database.js';
import { discardBuild, makeBuild, serveBuild } from './build-life.js';
import { createGroup, lockGroup, readBuilds, readGroup, stopBuild, takeEpoch, type Build, type GroupRow } from './builds.js';
import { LogMismatch } from './errors.js';
import type { EngineSettings } from './options.js';
import type { Projection } from './projection.js';
import { pointViews } from './schema-sql.js';

/** A projection that must be built before it can join the group. */
export interface ToBuild {
  readonly projection: Projection;
  readonly build: Build;
  /** Nothing served before, so readers see the build as it grows. */
  readonly first: boolean;
}

/** @throws LogMismatch when the checkpoints belong to another log, or lie beyond its head */
export async function checkLog({ database, log, logId }: EngineSettings): Promise<void> {
  const group = await readGroup(database);
  if (!group) return;
  checkLogId(group, logId);
  // The head after the position: the other way round, a running owner could move the position past a head read before.
  const head = await log.head();
  if (group.position > head)
    throw new LogMismatch(
      `the read models stand at position ${group.position}, but the event log ends at ${head}: it was restored to an earlier moment. ` +
        'Restore the database to that moment too, or drop the read models so that they are built anew',
    );
}

function checkLogId(group: GroupRow, logId: string): void {
  if (group.logId !== logId)
    throw new LogMismatch(
      `the read models follow the event log ${group.logId}, but this one is ${logId}: connect the database that belongs to the log, ` +
        'or drop the read models so that they are built anew',
    );
}

/** What comes with owning the group. */
export interface Ownership {
  readonly epoch: bigint;
  readonly toBuild: readonly ToBuild[];
}

/**
 * Takes the group over and makes what is missing, in one transaction: of two processes that start at once, the second waits.
 *
 * @returns undefined when another owner is alive
 */
export async function takeOver({ database, logId, projections, leaseMs }: EngineSettings): Promise<Ownership | undefined> {
  return database.asOwner(async (queries) => {
    await createGroup(queries, logId);
    const group = await lockGroup(queries);
    checkLogId(group, logId);
    const epoch = await takeEpoch(queries, leaseMs);
    if (epoch === undefined) return undefined;
    const builds = await readBuilds(queries);
    for (const { schema } of builds.filter(({ state }) => state === 'building')) await discardBuild(queries, schema);
    const serving = new Map(builds.filter(({ state }) => state !== 'building').map((build) => [build.name, build]));
    for (const build of serving.values()) {
      if (!projections.has(build.name))
        await standStill(queries, build, group, 'no projection of this name is declared any more');
    }
    const toBuild: ToBuild[] = [];
    for (const projection of projections.values())
      toBuild.push(...(await prepare(queries, projection, serving.get(projection.name), group)));
    return { epoch, toBuild };
  });
}

async function prepare(queries: Queries, projection: Projection, served: Build | undefined, group: GroupRow): Promise<ToBuild[]> {
  const current = served?.version === projection.version;
  if (served && current && (served.state === 'active' || served.failedPosition !== null)) return [];
  if (served && !current) await standStill(queries, served, group, `waits for version ${projection.version} to be built`);
  const build = await makeBuild(queries, projection);
  if (!build) throw new Error(`${projection.name} is being built already`);
  if (group.position === -1n) {
    await serveBuild(queries, projection, build);
    return [];
  }
  if (!served) await queries.execute(pointViews(build.schema, projection));
  return [{ projection, build, first: !served }];
}

/** Nobody projects it from now on, so it leaves the group with the position it has. */
async function standStill(queries: Queries, build: Build, group: GroupRow, reason: string): Promise<void> {
  if (build.state === 'active') await stopBuild(queries, build.schema, group.position, reason, null);
}
