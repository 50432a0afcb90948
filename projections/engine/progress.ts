import { readBuilds, readGroup, type Build } from './builds.js';
import type { EngineSettings } from './options.js';
import type { Meter } from './pacing.js';
import type { Projection } from './projection.js';
import type { ProjectionStatus, RebuildStatus } from './status.js';

/** Where one projection is, and whether it will get any further by itself. */
export interface Standing {
  readonly version: number;
  readonly state: 'active' | 'building' | 'stopped';
  readonly position: bigint;
  /** Position of the rows that readers see, which a build only replaces when it is done. */
  readonly served: bigint;
  readonly lastError: string | null;
  /** Number of the build that serves; 0 when none does. */
  readonly build: number;
  /** Position of the build that is to replace it; undefined when there is none. */
  readonly replacement: bigint | undefined;
}

export interface Progress {
  /** The group's. */
  readonly position: bigint;
  readonly builds: readonly Build[];
}

export function standingOf({ name, version }: Projection, progress: Progress): Standing {
  const own = progress.builds.filter((build) => build.name === name);
  const building = own.find(({ state }) => state === 'building');
  const serving = own.find(({ state }) => state !== 'building');
  if (serving?.state === 'active') {
    const { position } = progress;
    const replacement = building && (building.position ?? -1n);
    return {
      version: serving.version,
      state: 'active',
      position,
      served: position,
      lastError: null,
      build: serving.build,
      replacement,
    };
  }
  const shown = building ?? serving ?? { version, position: -1n, lastError: null };
  return {
    version: shown.version,
    state: serving && !building ? 'stopped' : 'building',
    position: shown.position ?? -1n,
    // Where nothing served before, readers see the build as it grows.
    served: (serving ?? shown).position ?? -1n,
    lastError: shown.lastError,
    build: serving?.build ?? 0,
    replacement: serving && building ? (building.position ?? -1n) : undefined,
  };
}

/** Reads where the group and its builds stand, whichever process moves them. */
export async function readProgress(database: EngineSettings['database']): Promise<Progress> {
  const group = await readGroup(database);
  return { position: group?.position ?? -1n, builds: await readBuilds(database) };
}

/** What the engine of this process adds to what the database knows. */
export interface Motion {
  /** Speed of the group. */
  readonly group: Meter | undefined;
  /** Speed of those that are being built. */
  readonly builders: ReadonlyMap<string, Meter>;
  /** Why the last rebuild of each failed, where it did. */
  readonly failures: ReadonlyMap<string, string>;
  /** Why the group does not move. */
  readonly trouble: string | undefined;
}

export async function readStatus(settings: EngineSettings, motion: Motion): Promise<ProjectionStatus[]> {
  const progress = await readProgress(settings.database);
  const standings = new Map([...settings.projections.values()].map((each) => [each.name, standingOf(each, progress)]));
  const head = await settings.log.head();
  const oldest = new Map<bigint, Date | undefined>();
  for (const { position } of standings.values()) {
    if (!oldest.has(position)) oldest.set(position, position < head ? await recordedAfter(settings, position) : undefined);
  }
  return [...standings].map(([name, { version, state, position, lastError, build, replacement }]) => {
    const waiting = oldest.get(position);
    const behind = waiting && head > position ? head - position : 0n;
    const meter = { active: motion.group, building: motion.builders.get(name), stopped: undefined }[state];
    const rates = meter?.rates();
    return {
      name,
      version,
      state: state === 'active' ? (waiting ? 'catching_up' : 'caught_up') : state,
      position,
      head,
      lag: { positions: behind, seconds: waiting ? Math.max(0, (Date.now() - waiting.getTime()) / 1000) : 0 },
      rate: rates?.events ?? 0,
      eta_seconds: behind === 0n ? 0 : rates && rates.positions > 0 ? Number(behind) / rates.positions : null,
      last_error: lastError ?? (state === 'stopped' ? null : (motion.trouble ?? null)),
      build,
      rebuild: replacement === undefined ? null : rebuildStatus(replacement, head, motion.builders.get(name)),
      rebuild_error: motion.failures.get(name) ?? null,
    };
  });
}

function rebuildStatus(position: bigint, head: bigint, meter: Meter | undefined): RebuildStatus {
  const rates = meter?.rates();
  const speed = rates?.positions ?? 0;
  return { position, rate: rates?.events ?? 0, eta_seconds: speed > 0 ? Number(head - position) / speed : null };
}

/** When the log learned the first event of ours after a position; undefined when there is none. */
async function recordedAfter({ log, codec }: EngineSettings, position: bigint): Promise<Date | undefined> {
  for await (const event of log.readAll({ after: position, prefix: codec.streamPrefix })) return event.recordedAt;
  return undefined;
}
