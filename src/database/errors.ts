import pg from 'pg';
import { types } from 'node:util';

/** The database cannot be reached, is shutting down, or has no connection to give; try again later. */
export class DatabaseUnavailable extends Error {
  readonly code = 'database_unavailable';

  /** @param sqlState five characters, or undefined when no server answered; never the server's text, which may hold data */
  constructor(readonly sqlState: string | undefined) {
    super(`the database is unavailable${sqlState ? ` (SQLSTATE ${sqlState})` : ''}`);
  }
}

/** The database refused a statement. Its own text stays out of the message, because it may quote rows. */
export class DatabaseFailure extends Error {
  readonly code = 'database_failure';

  constructor(
    readonly sqlState: string,
    readonly table: string | undefined,
    readonly constraint: string | undefined,
  ) {
    super(`SQLSTATE ${sqlState}${table ? ` on ${table}` : ''}${constraint ? ` (${constraint})` : ''}`);
  }
}

export const isDatabaseUnavailable = (error: unknown): error is DatabaseUnavailable => error instanceof DatabaseUnavailable;
export const isDatabaseFailure = (error: unknown): error is DatabaseFailure => error instanceof DatabaseFailure;

/** Connection lost, too many connections, server shutting down or starting, lock or serialisation trouble: worth a retry. */
const transientStates = /^(08|53|57P0|40|55P03)/;

const lostConnection =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|pool after calling end|ECONN|EPIPE|ENOENT|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH/i;

/** What callers see of an error of `pg`. */
export function databaseError(error: unknown): Error {
  if (error instanceof pg.DatabaseError) {
    const state = error.code ?? 'XX000';
    return transientStates.test(state)
      ? new DatabaseUnavailable(state)
      : new DatabaseFailure(state, error.table, error.constraint);
  }
  // Not `instanceof Error`: errors of Node's own network code belong to another realm when a test runs us in a VM.
  if (
    types.isNativeError(error) &&
    (lostConnection.test(error.message) || lostConnection.test(String((error as NodeJS.ErrnoException).code)))
  ) {
    return new DatabaseUnavailable(undefined);
  }
  return types.isNativeError(error) ? error : new Error('unknown database error');
}
