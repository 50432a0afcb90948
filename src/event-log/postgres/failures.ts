import { DatabaseFailure, DatabaseUnavailable } from '../../database/errors.js';
import { InvalidAppend } from '../check-append.js';
import { AccessDenied, AppendOutcomeUnknown, LogUnavailable } from '../errors.js';

/** Resources, serialisation (but for 40003, statement completion unknown), lock timeout, still starting: nothing was stored. */
const rolledBack = /^(53|40(?!003)|55P03|57P03)/;

/** A server that only reads (25006), as after a failover; a statement that was cancelled or ran out of time (57014). */
const refusedForNow = /^(25006|57014)$/;

const noCredentials = /^(28|42501)/;

/** What the port says when the statement of an append failed. */
export function appendFailure(error: unknown): Error {
  if (error instanceof DatabaseUnavailable) {
    // Without an SQLSTATE no server answered; with 57P01 it ended the connection, which it also does just after a commit.
    return error.sqlState && rolledBack.test(error.sqlState)
      ? new LogUnavailable(error.message, { cause: error })
      : new AppendOutcomeUnknown(error.message, { cause: error });
  }
  if (!(error instanceof DatabaseFailure)) return new AppendOutcomeUnknown('the connection failed', { cause: error });
  if (refusedForNow.test(error.sqlState)) return new LogUnavailable(error.message, { cause: error });
  if (noCredentials.test(error.sqlState)) return new AccessDenied(error.message, { cause: error });
  if (error.constraint === 'events_stream_event_id')
    return new InvalidAppend('an event id already stands elsewhere in the stream');
  return error;
}

/** Whether another append of the same batch may have caused it: the database itself refused a value. */
export const mayBeAnotherAppend = (failure: Error): boolean =>
  failure instanceof DatabaseFailure || failure instanceof InvalidAppend;

/** What the port says when reading failed. */
export function readFailure(error: unknown): Error {
  if (error instanceof DatabaseFailure && noCredentials.test(error.sqlState))
    return new AccessDenied(error.message, { cause: error });
  // Messages of database errors carry no text of the server; those of others might.
  const known = error instanceof DatabaseFailure || error instanceof DatabaseUnavailable;
  return new LogUnavailable(known ? error.message : 'the connection failed', { cause: error });
}
