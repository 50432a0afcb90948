import { isDatabaseFailure } from '../../src/database/errors.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { ProjectionDefect } from './errors.js';

/** Trouble of the surroundings, not of an event: the same batch may succeed in a moment. */
const passing = new Set(['log_unavailable', 'database_unavailable', 'key_unavailable']);

/** Statements cancelled by an operator or a timeout, and a server's own trouble with its files. */
const passingStates = /^(57|58)/;

export function isPassing(error: unknown): boolean {
  if (isDatabaseFailure(error)) return passingStates.test(error.sqlState);
  return passing.has(codeOf(error) ?? '');
}

/**
 * What may be stored and shown of an error. Never its message, which may quote what somebody wrote: the code and what
 * names our own tables, or the error's class.
 */
export function describeError(error: unknown): string {
  if (isDatabaseFailure(error)) return `${error.code}: ${error.message}`;
  if (error instanceof ProjectionDefect) return `${error.code}: ${error.message}`;
  return codeOf(error) ?? (error instanceof Error ? error.constructor.name || 'Error' : typeof error);
}

export const describeFailure = (error: unknown, { type, position }: Pick<StoredEvent, 'type' | 'position'>): string =>
  `${describeError(error)}, at ${type} in position ${position}`;

function codeOf(error: unknown): string | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^\w{1,60}$/.test(code) ? code : undefined;
}
