import {
  AccessDeniedError,
  isCommandError,
  MaxAppendSizeExceededError,
  NotLeaderError,
  StreamDeletedError,
  StreamNotFoundError,
  UnavailableError,
  CancelledError,
  UnknownError,
  WrongExpectedVersionError,
} from '@eventstore/db-client';
import {
  AccessDenied,
  AppendOutcomeUnknown,
  AppendTooLarge,
  isAccessDenied,
  isAppendOutcomeUnknown,
  isLogUnavailable,
  isStreamTombstoned,
  LogUnavailable,
  StreamTombstoned,
  WrongExpectedRevision,
} from '../errors.js';
import type { Append } from '../event-log.js';
import { knownRevision } from './positions.js';

/** Status codes of gRPC. */
const [cancelled, permissionDenied, unavailable, unauthenticated] = [1, 7, 14, 16];

/** What a server says in place of carrying an append out. */
const notCarriedOut = /Server Is (Not Ready|Busy|Too Busy)|No leader info available/;

/** What the port says when an append was sent and failed. Never with the server's words. */
export function appendFailure(error: unknown, { stream, expected }: Append, bytes: number): Error {
  if (isAppendOutcomeUnknown(error)) return error;
  if (error instanceof WrongExpectedVersionError)
    return new WrongExpectedRevision(stream, expected, actualRevision(error.actualVersion));
  if (error instanceof StreamDeletedError) return new StreamTombstoned('the stream was deleted for ever', { cause: error });
  if (error instanceof MaxAppendSizeExceededError) return new AppendTooLarge(bytes, error.maxAppendSize);
  if (isDenied(error)) return denied(error);
  if (error instanceof UnknownError && notCarriedOut.test(error.message))
    return new LogUnavailable('the server takes no appends now', { cause: error });
  return new AppendOutcomeUnknown(`the append was not answered: ${kindOf(error)}`, { cause: error });
}

/** What the port says when nothing was sent, or reading failed. */
export function readFailure(error: unknown): Error {
  if (isLogUnavailable(error) || isAccessDenied(error) || isStreamTombstoned(error)) return error;
  if (error instanceof StreamDeletedError) return new StreamTombstoned('the stream was deleted for ever', { cause: error });
  return isDenied(error) ? denied(error) : unreachable(error);
}

export const isNotLeader = (error: unknown): boolean => error instanceof NotLeaderError;
export const isNoStream = (error: unknown): boolean => error instanceof StreamNotFoundError;

/**
 * Whether the client will fail like this for ever. It connects anew by itself when a server is unavailable, cancels, or is
 * not the leader. But it keeps the failure of its first question to a server, and of its search for a cluster, for good.
 */
export function isStuck(error: unknown): boolean {
  if (isAppendOutcomeUnknown(error) || error instanceof UnavailableError || error instanceof CancelledError || isDenied(error))
    return false;
  return !isCommandError(error as Error) && ![unavailable, cancelled].includes(codeOf(error) ?? -1);
}

/** A few words that hold nothing of the content. */
export const kindOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && 'type' in error
    ? String(error.type)
    : `connection failed (${codeOf(error) ?? 'no code'})`;

const isDenied = (error: unknown): boolean =>
  error instanceof AccessDeniedError || [permissionDenied, unauthenticated].includes(codeOf(error) ?? -1);

const denied = (cause: unknown): Error => new AccessDenied('the server refuses these credentials', { cause });
const unreachable = (cause: unknown): Error => new LogUnavailable(`the server cannot be reached: ${kindOf(cause)}`, { cause });

function codeOf(error: unknown): number | undefined {
  return typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'number'
    ? error.code
    : undefined;
}

/** A refused append names a revision or `no_stream`; the client's type allows more. */
const actualRevision = (actual: WrongExpectedVersionError['actualVersion']): bigint | 'no_stream' =>
  typeof actual === 'bigint' ? knownRevision(actual) : 'no_stream';
