import { readBuilds, type Build } from './builds.js';
import { readGroup } from './checkpoint.js';
import type { Declared } from './declared.js';
import { isProjected } from './plan.js';

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
  /** The build that is being made to replace it; undefined when there is none. */
  readonly replacement: Build | undefined;
}

export interface Progress {
  /** The group's. */
  readonly position: bigint;
  readonly builds: readonly Build[];
}

export function standingOf(name: string, declared: Declared, { position: ofGroup, builds }: Progress): Standing {
  const own = builds.filter((build) => build.name === name);
  const positionOf = (build: Build): bigint => (build.state === 'active' ? ofGroup : (build.position ?? -1n));
  const serving = own.find(({ role, state }) => role === 'serving' && state !== 'building');
  const building = own.find(({ state }) => state === 'building');
  const replacement = serving && building;
  const seen = { build: serving?.build ?? 0, served: serving ? positionOf(serving) : ofGroup, replacement };
  if (serving?.state === 'active')
    return { ...seen, version: serving.version, state: 'active', position: ofGroup, lastError: null };
  // Where nothing served before, readers see the build as it grows.
  if (!serving) {
    const position = building ? positionOf(building) : -1n;
    const version = building?.version ?? declared.latest(name)?.version ?? 0;
    return { ...seen, version, state: 'building', position, served: position, lastError: null };
  }
  // What serves stands still. It moves on where another build is to take its place, or it goes on itself.
  const next = building ?? own.find((build) => build.role === 'ready');
  const comes = next !== undefined && (next.state === 'building' || (next.state === 'active' && !isProjected(serving, declared)));
  const shown = comes ? next : serving;
  return {
    ...seen,
    version: shown.version,
    state: comes || serving.filling ? 'building' : 'stopped',
    position: positionOf(shown),
    lastError: shown.lastError ? (failureOfNext(serving, next) ?? shown.lastError) : null,
  };
}

/** It stands still at no event of its own: what stopped the build that was to replace it says more. */
const failureOfNext = (serving: Build, next: Build | undefined): string | null =>
  serving.failedPosition === null ? (next?.lastError ?? null) : null;

/** Reads where the group and its builds stand, whichever process moves them. */
export async function readProgress(database: Parameters<typeof readBuilds>[0]): Promise<Progress> {
  const group = await readGroup(database);
  return { position: group?.position ?? -1n, builds: await readBuilds(database) };
}
