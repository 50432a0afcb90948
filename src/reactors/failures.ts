import { describeError, isPassing as isPassingForProjections } from '../../projections/engine/failures.js';
import { isDatabaseFailure } from '../database/errors.js';

/** Trouble of appending that is over in a moment, or once an operator has put the log's credentials right. */
const passing = new Set(['append_outcome_unknown', 'command_contended', 'log_access_denied', 'read_models_behind']);

/**
 * No such table, no such column: the read model is being built, in the version that this code knows. An older one serves
 * meanwhile.
 */
const beingBuilt = new Set(['42P01', '42703']);

/** Trouble of the surroundings, not of an event or a timer: the same may succeed later, so it is tried for ever. */
export function isPassing(error: unknown): boolean {
  if (isDatabaseFailure(error) && beingBuilt.has(error.sqlState)) return true;
  return isPassingForProjections(error) || passing.has(codeOf(error) ?? '');
}

/** The read models have not come as far as the event; the reactor waits. */
export class ReadModelsBehind extends Error {
  readonly code = 'read_models_behind';
}

/** Another process has taken the reactor over, or this one is no longer the one that projects. */
export class Superseded extends Error {}

/** The checkpoint is not where it was left: a commit whose answer was lost succeeded. It is read again. */
export class CheckpointMoved extends Error {}

/** An event or a timer that the reactor cannot handle. The reason names no content. */
export class Poison extends Error {
  constructor(readonly reason: string) {
    super(reason);
  }
}

export const atTimer = (error: unknown, dueAt: Date): string => `${reasonOf(error)}, at a timer due ${dueAt.toISOString()}`;
export const atEvent = (error: unknown, { type, position }: { type: string; position: bigint }): string =>
  `${reasonOf(error)}, at ${type} in position ${position}`;

const reasonOf = (error: unknown): string =>
  codeOf(error) === 'reactor_defect' && error instanceof Error ? `reactor_defect: ${error.message}` : describeError(error);

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
