/** The checkpoints belong to another log, or lie beyond the head of this one: the log was replaced or restored to an earlier moment. */
export class LogMismatch extends Error {
  readonly code = 'log_mismatch';
}

/** Nobody declared a projection of this name. */
export class ProjectionUnknown extends Error {
  readonly code = 'projection_unknown';

  constructor(readonly projection: string) {
    super(`there is no projection ${projection}`);
  }
}

/** A rebuild of this projection is under way, here or in another process. */
export class RebuildRunning extends Error {
  readonly code = 'rebuild_running';

  constructor(readonly projection: string) {
    super(`${projection} is being rebuilt already`);
  }
}

/** A rebuild met an event that the projection cannot apply, or was cut short; the version that served before still does. */
export class RebuildFailed extends Error {
  readonly code = 'rebuild_failed';

  constructor(
    readonly projection: string,
    readonly reason: string,
  ) {
    super(`rebuilding ${projection} failed: ${reason}`);
  }
}

export const isLogMismatch = (error: unknown): error is LogMismatch => error instanceof LogMismatch;
export const isProjectionUnknown = (error: unknown): error is ProjectionUnknown => error instanceof ProjectionUnknown;
export const isRebuildRunning = (error: unknown): error is RebuildRunning => error instanceof RebuildRunning;
export const isRebuildFailed = (error: unknown): error is RebuildFailed => error instanceof RebuildFailed;

/** A projection breaks the engine's rules. The message is made of names of tables and columns only, so it may be stored and shown. */
export class ProjectionDefect extends Error {
  readonly code = 'projection_defect';
}
