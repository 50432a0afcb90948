import { Backoff, type DelayBounds } from '../../src/backoff.js';
import type { Queries } from '../../src/database/database.js';
import type { CommandContext } from '../../src/event-log/command-context.js';
import { newCommandId } from '../../src/event-log/ids.js';
import { systemTeam } from '../../src/event-log/stream-name.js';
import type { SwitchKind } from '../../src/operations/operation.js';
import { dropBuild, olderReadersDone, serveBuild } from './build-life.js';
import { buildsOf, setRole, type Build } from './builds.js';
import { announceBuilds, lockGroup } from './checkpoint.js';
import { BuildRefused, type BuildRefusal } from './errors.js';
import { isPassing } from './failures.js';
import { copyCachedVectors } from './kept-vectors.js';
import type { SwitchRecord } from './operation-log.js';
import type { EngineSettings } from './options.js';
import type { Projection } from './projection.js';
import { findSwitch, insertSwitch } from './switches.js';

/** Longer than a recall holds its locks, shorter than PostgreSQL waits before it kills one side of a deadlock (1 s): the switch gives way. */
export const lockTimeout = '500ms';

/** Longest wait for readers that began before the build joined the group: longer than a recall takes. */
const patienceMs = 10_000;

/** How long a switch that had to give way is tried again. */
const insistMs = 15_000;
const givingWay: DelayBounds = { first: 20, longest: 500 };

export interface SwitchOrder {
  readonly name: string;
  /** Of the build that is to serve. */
  readonly role: 'ready' | 'standby';
  readonly kind: SwitchKind;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** The service's own, where nobody asked for it. */
export function ownContext(): CommandContext {
  const commandId = newCommandId();
  return { commandId, correlationId: commandId, team: systemTeam };
}

/** Nothing served before; a replay that served as it grew is complete. */
export async function noteFirst(queries: Queries, { name, version, build }: Build): Promise<void> {
  await insertSwitch(queries, recordOf(name, ownContext(), 'automatic', undefined, { version, build }));
}

/**
 * Lets another build serve, in one transaction; what served before stands by. Asked again by the same command, it answers
 * what it did then.
 *
 * @throws BuildRefused; DatabaseUnavailable when readers hold the views for too long
 */
export async function switchOver(settings: EngineSettings, order: SwitchOrder): Promise<SwitchRecord> {
  const until = performance.now() + insistMs;
  const backoff = new Backoff(givingWay);
  for (;;) {
    try {
      const done = await findSwitch(settings.database, order.context.commandId);
      if (done) return done;
      const target = await settled(settings, order);
      await copyVectorsAhead(settings, target);
      return await settings.database.asOwner((queries) => switchNow(queries, settings, order));
    } catch (error) {
      if (!isPassing(error) || order.signal.aborted || performance.now() > until) throw error;
      await backoff.pause(order.signal);
    }
  }
}

/** The build that is to serve, once every reader sees all its rows. */
async function settled({ database, projections }: EngineSettings, order: SwitchOrder): Promise<Build> {
  const { target } = refuseUnfit(await buildsOf(database, order.name), order, (build) => projections.of(build));
  // A moment more than it took the transaction that let the build join to commit: until then nobody saw its last rows.
  const [joined] = await database.query<{ moment: string }>(
    `SELECT least(joined_at + interval '5 seconds', clock_timestamp())::text AS moment FROM mneme.projection_builds WHERE schema_name = $1`,
    [target.schema],
  );
  if (joined) await olderReadersDone(database, joined.moment, { patienceMs, signal: order.signal });
  return target;
}

/** In transactions of their own, so that the switch itself has little left to copy. */
async function copyVectorsAhead({ database, projections, embeddingContract }: EngineSettings, target: Build): Promise<void> {
  const projection = projections.of(target);
  if (!projection || embeddingContract === undefined) return;
  const vectors = { projection, schema: target.schema, contract: embeddingContract };
  for (let more = true; more;) {
    more = await database.as('mneme_projector', async (queries) => {
      await lockGroup(queries);
      return copyCachedVectors(queries, vectors, { every: false });
    });
  }
}

async function switchNow(queries: Queries, settings: EngineSettings, order: SwitchOrder): Promise<SwitchRecord> {
  const { name, context, kind } = order;
  await queries.execute(`SET LOCAL lock_timeout = '${lockTimeout}'`);
  await lockGroup(queries);
  const done = await findSwitch(queries, context.commandId);
  if (done) return done;
  const { target, projection } = refuseUnfit(await buildsOf(queries, name), order, (build) => settings.projections.of(build));
  return promote(queries, settings, { target, projection, context, kind });
}

export interface Promotion {
  readonly target: Build;
  readonly projection: Projection;
  readonly context: CommandContext;
  readonly kind: SwitchKind;
}

/** Lets a member of the group serve in place of what served, which stands by from now on. Run as the owner, with the group locked. */
export async function promote(
  queries: Queries,
  { embeddingContract }: EngineSettings,
  { target, projection, context, kind }: Promotion,
): Promise<SwitchRecord> {
  const others = (await buildsOf(queries, target.name)).filter(({ schema }) => schema !== target.schema);
  const former = others.find(({ role }) => role === 'serving');
  for (const older of others) if (older.role === 'standby') await dropBuild(queries, older.schema);
  if (former) await setRole(queries, former.schema, 'standby');
  await setRole(queries, target.schema, 'serving');
  await serveBuild(queries, projection, target.schema, former?.schema ?? target.schema);
  if (embeddingContract !== undefined) {
    await queries.execute('SET LOCAL ROLE mneme_projector');
    await copyCachedVectors(queries, { projection, schema: target.schema, contract: embeddingContract }, { every: true });
    await queries.execute('SET LOCAL ROLE NONE');
  }
  await announceBuilds(queries);
  const record = recordOf(target.name, context, kind, former, target);
  await insertSwitch(queries, record);
  return record;
}

const refusals: Readonly<Record<SwitchOrder['role'], Record<'none' | 'behind' | 'stopped' | 'unknown', BuildRefusal>>> = {
  ready: {
    none: 'no_ready_build',
    behind: 'ready_build_behind',
    stopped: 'ready_build_stopped',
    unknown: 'ready_build_not_projected',
  },
  standby: {
    none: 'no_standby_build',
    behind: 'standby_build_behind',
    stopped: 'standby_build_stopped',
    unknown: 'standby_build_not_projected',
  },
};

/** @throws BuildRefused unless there is one that may serve at once */
function refuseUnfit(
  builds: readonly Build[],
  { name, role }: Pick<SwitchOrder, 'name' | 'role'>,
  projectionOf: (build: Build) => Projection | undefined,
): { target: Build; projection: Projection } {
  const because = refusals[role];
  const target = builds.find((build) => build.role === role);
  if (!target) throw new BuildRefused(because.none, name);
  const projection = projectionOf(target);
  if (!projection) throw new BuildRefused(because.unknown, name);
  if (target.state === 'building' || (target.state === 'stopped' && target.filling)) throw new BuildRefused(because.behind, name);
  if (target.state === 'stopped') throw new BuildRefused(because.stopped, name);
  return { target, projection };
}

const recordOf = (
  projection: string,
  { commandId, correlationId, apiKey }: CommandContext,
  kind: SwitchKind,
  from: Build | undefined,
  { version, build }: Pick<Build, 'version' | 'build'>,
): SwitchRecord => ({
  id: commandId,
  correlationId,
  apiKey: apiKey ?? null,
  projection,
  from: from ? { version: from.version, build: from.build } : null,
  to: { version, build },
  kind,
});
