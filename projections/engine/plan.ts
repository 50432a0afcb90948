import type { Build } from './builds.js';
import type { Declared } from './declared.js';
import type { Projection } from './projection.js';

/** One thing to be done so that the builds there are become those the code wants. */
export type Task =
  /** Nobody finishes it. */
  | { readonly do: 'discard'; readonly build: Build }
  /** Nothing in the code projects it. */
  | { readonly do: 'stand_still'; readonly build: Build; readonly reason: string }
  /** `replaces`: what was to serve next, and will not any more. */
  | { readonly do: 'make'; readonly projection: Projection; readonly first: boolean; readonly replaces: Build | undefined }
  /** It stands still though the code projects it. */
  | { readonly do: 'resume'; readonly build: Build; readonly projection: Projection }
  /** It is level, and nothing in the code projects what serves. */
  | { readonly do: 'switch'; readonly build: Build };

export interface Situation {
  readonly declared: Declared;
  readonly builds: readonly Build[];
  /** Whether a version was ever built: one that was dropped is not built again by itself. */
  readonly known: (name: string, version: number) => boolean;
  /** The owner begins: what was stopped before it was ever complete deserves another attempt, perhaps by mended code. */
  readonly starting: boolean;
}

export const tasksOf = (situation: Situation): Task[] =>
  [...new Set([...situation.declared.names, ...situation.builds.map(({ name }) => name)])].flatMap((name) =>
    tasksFor(name, situation),
  );

function tasksFor(name: string, situation: Situation): Task[] {
  const { declared } = situation;
  const own = situation.builds.filter((build) => build.name === name);
  const abandoned = own.filter((build) => build.state === 'building' && !build.filling);
  const left = own.filter((build) => !abandoned.includes(build));
  return [
    ...abandoned.map((build): Task => ({ do: 'discard', build })),
    ...left.filter((build) => build.state === 'active' && !declared.of(build)).map((build): Task => standStill(build, declared)),
    ...left.filter((build) => mayGoOn(build, declared)).flatMap((build) => resume(build, declared)),
    ...successor(name, left, situation),
  ];
}

const standStill = (build: Build, declared: Declared): Task => ({
  do: 'stand_still',
  build,
  reason: notProjected(build, declared),
});

/** Why nobody projects a build. */
export const notProjected = ({ name, version }: Build, declared: Declared): string =>
  declared.has(name)
    ? `nothing in the code projects version ${version} any more`
    : 'no projection of this name is declared any more';

/** Whether the code keeps it level, or may do so again. */
export const isProjected = (build: Build, declared: Declared): boolean => declared.of(build) !== undefined && !build.torn;

/** It stands still, but at no event. */
const mayGoOn = (build: Build, declared: Declared): boolean =>
  build.state === 'stopped' && build.failedPosition === null && isProjected(build, declared);

function resume(build: Build, declared: Declared): Task[] {
  const projection = declared.of(build);
  return projection && !build.filling ? [{ do: 'resume', build, projection }] : [];
}

/** What is to serve next, where something is. */
function successor(name: string, builds: readonly Build[], situation: Situation): Task[] {
  const { declared, starting, known } = situation;
  const projection = declared.latest(name);
  if (!projection) return [];
  const serving = builds.find(({ role }) => role === 'serving');
  const coming = builds.find(({ role }) => role === 'ready');
  const make = (replaces: Build | undefined): Task[] => [{ do: 'make', projection, first: !serving, replaces }];
  if (!serving) return make(coming);
  const failed = coming?.state === 'stopped' && coming.failedPosition !== null;
  if (isProjected(serving, declared)) {
    if (coming) return starting && failed && !coming.joined ? make(coming) : [];
    const built = builds.some(({ version }) => version === projection.version) || known(name, projection.version);
    return projection.version > serving.version && !built ? make(undefined) : [];
  }
  // Nothing projects what serves: whatever the code projects takes its place, without being asked.
  const standby = builds.find(({ role }) => role === 'standby');
  if (standby?.version === projection.version && (standby.state === 'active' || mayGoOn(standby, declared)))
    return standby.state === 'active' ? [{ do: 'switch', build: standby }] : [];
  if (!coming || !isProjected(coming, declared)) return make(coming);
  if (failed) return starting ? make(coming) : [];
  return coming.state === 'active' ? [{ do: 'switch', build: coming }] : [];
}
