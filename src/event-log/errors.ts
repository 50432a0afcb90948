import type { ExpectedRevision } from './event-log.js';

/** The stream is not at the revision that the writer expected: someone else appended first. */
export class WrongExpectedRevision extends Error {
  readonly code = 'wrong_expected_revision';

  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`expected revision ${expected}, the stream is at ${actual}`);
  }
}

/** The stream was deleted for ever and takes no more events. */
export class StreamTombstoned extends Error {
  readonly code = 'stream_tombstoned';
}

/** An event or an append is larger than the log takes; nothing was sent. */
export class AppendTooLarge extends Error {
  readonly code = 'append_too_large';

  constructor(
    readonly bytes: number,
    readonly limit: number,
  ) {
    super(`${bytes} bytes, the limit is ${limit}`);
  }
}

/** The log may or may not have stored the events: send the identical append again before deciding anew. */
export class AppendOutcomeUnknown extends Error {
  readonly code = 'append_outcome_unknown';
}

/** The log cannot be reached or stopped answering; try again later. */
export class LogUnavailable extends Error {
  readonly code = 'log_unavailable';
}

/** The log refuses our credentials. */
export class AccessDenied extends Error {
  readonly code = 'log_access_denied';
}

export const isWrongExpectedRevision = (error: unknown): error is WrongExpectedRevision => error instanceof WrongExpectedRevision;
export const isStreamTombstoned = (error: unknown): error is StreamTombstoned => error instanceof StreamTombstoned;
export const isAppendTooLarge = (error: unknown): error is AppendTooLarge => error instanceof AppendTooLarge;
export const isAppendOutcomeUnknown = (error: unknown): error is AppendOutcomeUnknown => error instanceof AppendOutcomeUnknown;
export const isLogUnavailable = (error: unknown): error is LogUnavailable => error instanceof LogUnavailable;
export const isAccessDenied = (error: unknown): error is AccessDenied => error instanceof AccessDenied;
