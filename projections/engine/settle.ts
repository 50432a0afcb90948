import type { Queries } from '../../src/database/database.js';
import { admitBuild, discardBuild, makeBuild, replaceBuild } from './build-life.js';
import { buildsOf, claimBuild, readBuilds, readVersions, stopBuild, type Build, type Filler } from './builds.js';
import { announceBuilds, type GroupRow } from './checkpoint.js';
import type { EngineSettings } from './options.js';
import { isProjected, tasksOf, type Task } from './plan.js';
import type { Projection } from './projection.js';
import { ownContext, promote } from './switch-over.js';

/** A build that must be brought level before it can join the group. */
export interface ToFill {
  readonly projection: Projection;
  readonly build: Build;
}

/** What is left to do once the builds are those the code wants. */
export interface Settled {
  readonly fills: readonly ToFill[];
  /** Of projections whose next build is to serve at once. */
  readonly switches: readonly Extract<Task, { do: 'switch' }>[];
}

export interface Settling {
  readonly filler: Filler;
  /** The owner begins. */
  readonly starting: boolean;
  /** Whoever replays a build has ended, even if it was alive a moment ago. */
  readonly alone: boolean;
}

/** What there is to do, judged by what is in the database now. */
export async function tasksNow(
  queries: Pick<Queries, 'query'>,
  { projections: declared }: EngineSettings,
  { starting, alone }: Pick<Settling, 'starting' | 'alone'>,
): Promise<Task[]> {
  const builds = (await readBuilds(queries)).map((build) => (alone ? { ...build, filling: false } : build));
  const versions = await readVersions(queries);
  const known = (name: string, version: number) => versions.some((each) => each.name === name && each.version === version);
  return tasksOf({ declared, builds, known, starting });
}

/** Makes, claims and drops builds until they are those the code wants. Run as the owner, with the group locked. */
export async function settle(queries: Queries, settings: EngineSettings, group: GroupRow, settling: Settling): Promise<Settled> {
  const tasks = await tasksNow(queries, settings, settling);
  const fills: ToFill[] = [];
  for (const task of tasks) fills.push(...(await carryOut(queries, settings, task, { group, ...settling })));
  return { fills, switches: tasks.filter((task) => task.do === 'switch') };
}

async function carryOut(
  queries: Queries,
  settings: EngineSettings,
  task: Task,
  { group, filler, alone }: Settling & { group: GroupRow },
): Promise<ToFill[]> {
  switch (task.do) {
    case 'discard':
      await discardBuild(queries, task.build.schema);
      return [];
    case 'stand_still':
      await stopBuild(queries, task.build.schema, {
        position: group.position,
        reason: task.reason,
        failedPosition: null,
        purging: true,
      });
      return [];
    case 'make':
      if (task.replaces) await replaceBuild(queries, task.replaces.schema);
      return make(queries, settings, task, { group, filler });
    case 'resume':
      await announceBuilds(queries);
      return (await claimBuild(queries, task.build.schema, filler, alone)) ? [task] : [];
    case 'switch':
      return []; // In a transaction of its own, with readers waited for.
    default:
      return task satisfies never;
  }
}

/** Where nothing was applied yet, there is nothing to replay. */
async function make(
  queries: Queries,
  settings: EngineSettings,
  { projection, first }: Extract<Task, { do: 'make' }>,
  { group, filler }: { group: GroupRow; filler: Filler },
): Promise<ToFill[]> {
  const build = await makeBuild(queries, projection, first ? 'serving' : 'ready', filler);
  if (!build) return [];
  if (group.position !== -1n) return [{ projection, build }];
  await admitBuild(queries, build);
  const serving = (await buildsOf(queries, build.name)).find(({ role }) => role === 'serving');
  if (serving && !isProjected(serving, settings.projections))
    await promote(queries, settings, { target: build, projection, context: ownContext(), kind: 'automatic' });
  return [];
}
