import type { Build } from './builds.js';
import type { EngineSettings } from './options.js';
import type { Meter } from './pacing.js';
import { isProjected } from './plan.js';
import { readProgress, standingOf, type Progress } from './progress.js';
import type { BuildStatus, ProjectionStatus, RebuildStatus } from './status.js';

/** What the engine of this process adds to what the database knows. */
export interface Motion {
  /** Speed of the group. */
  readonly group: Meter | undefined;
  /** Speed of those that are being brought level, by schema. */
  readonly builders: ReadonlyMap<string, Meter>;
  /** Why the last rebuild of each failed, where it did. */
  readonly failures: ReadonlyMap<string, string>;
  /** Why the group does not move. */
  readonly trouble: string | undefined;
}

interface Look {
  readonly settings: EngineSettings;
  readonly motion: Motion;
  readonly progress: Progress;
  readonly head: bigint;
  /** When the log learned the first event after a position; undefined when there is none. */
  readonly oldest: ReadonlyMap<bigint, Date | undefined>;
}

export async function readStatus(settings: EngineSettings, motion: Motion): Promise<ProjectionStatus[]> {
  const { projections, log, database } = settings;
  const progress = await readProgress(database);
  const standings = new Map(projections.names.map((name) => [name, standingOf(name, projections, progress)]));
  const head = await log.head();
  const positions = [...standings.values(), ...progress.builds].map((each) => each.position ?? progress.position);
  const oldest = new Map<bigint, Date | undefined>();
  for (const position of new Set(positions))
    oldest.set(position, position < head ? await recordedAfter(settings, position) : undefined);
  const look = { settings, motion, progress, head, oldest };
  return projections.names.map((name) => statusOf(name, look));
}

function statusOf(name: string, look: Look): ProjectionStatus {
  const { settings, progress, motion, head } = look;
  const { version, state, position, lastError, build, replacement } = standingOf(name, settings.projections, progress);
  const own = progress.builds.filter((each) => each.name === name);
  const moving = own.find((each) => each.state !== 'active' && each.filling && each.position === position);
  const meter = { active: motion.group, building: moving && motion.builders.get(moving.schema), stopped: undefined }[state];
  const pace = paceOf(position, meter, look);
  return {
    name,
    version,
    state: state === 'active' ? (pace.lag.positions > 0n ? 'catching_up' : 'caught_up') : state,
    head,
    ...pace,
    last_error: lastError ?? (state === 'stopped' ? null : (motion.trouble ?? null)),
    build,
    rebuild: replacement ? rebuildStatus(replacement, head, motion.builders.get(replacement.schema)) : null,
    rebuild_error: motion.failures.get(name) ?? null,
    builds: own.map((each) => buildStatus(each, look)).sort((one, other) => order[one.role] - order[other.role]),
  };
}

const order = { serving: 0, standby: 1, ready: 2 } as const;

function buildStatus(build: Build, look: Look): BuildStatus {
  const { progress, motion, settings } = look;
  const { version, build: number, role, lastError: last_error, failedPosition: failed_position } = build;
  const active = build.state === 'active';
  return {
    version,
    build: number,
    role,
    state: build.state === 'building' ? 'building' : active ? role : build.filling ? 'catching_up' : 'stopped',
    projected: isProjected(build, settings.projections),
    ...paceOf(
      active ? progress.position : (build.position ?? -1n),
      active ? motion.group : motion.builders.get(build.schema),
      look,
    ),
    last_error,
    failed_position,
    purged: active || (build.state === 'stopped' && build.purging),
  };
}

function paceOf(
  position: bigint,
  meter: Meter | undefined,
  { head, oldest }: Look,
): Pick<BuildStatus, 'position' | 'lag' | 'rate' | 'eta_seconds'> {
  const waiting = oldest.get(position);
  const behind = waiting && head > position ? head - position : 0n;
  const rates = meter?.rates();
  return {
    position,
    lag: { positions: behind, seconds: waiting ? Math.max(0, (Date.now() - waiting.getTime()) / 1000) : 0 },
    rate: rates?.events ?? 0,
    eta_seconds: behind === 0n ? 0 : rates && rates.positions > 0 ? Number(behind) / rates.positions : null,
  };
}

function rebuildStatus({ position }: Build, head: bigint, meter: Meter | undefined): RebuildStatus {
  const rates = meter?.rates();
  const speed = rates?.positions ?? 0;
  const reached = position ?? -1n;
  return { position: reached, rate: rates?.events ?? 0, eta_seconds: speed > 0 ? Number(head - reached) / speed : null };
}

/** When the log learned the first event of ours after a position; undefined when there is none. */
async function recordedAfter({ log, codec }: EngineSettings, position: bigint): Promise<Date | undefined> {
  for await (const event of log.readAll({ after: position, prefix: codec.streamPrefix })) return event.recordedAt;
  return undefined;
}
