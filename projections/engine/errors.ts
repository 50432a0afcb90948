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

/** Why builds stay as they are. */
export type BuildRefusal =
  | 'no_ready_build'
  | 'ready_build_behind'
  | 'ready_build_stopped'
  | 'ready_build_not_projected'
  | 'no_standby_build'
  | 'standby_build_behind'
  | 'standby_build_stopped'
  | 'standby_build_not_projected'
  | 'nothing_to_verify'
  | 'builds_not_level'
  | 'nothing_to_drop'
  | 'version_not_declared';

/** What is asked for does not fit the builds there are. */
export class BuildRefused extends Error {
  constructor(
    readonly code: BuildRefusal,
    readonly projection: string,
  ) {
    super(`${projection}: ${code}`);
  }
}

/** A rebuild was complete, and holds other rows than what serves: it is ready, and waits for an operator. */
export class RebuildDiffers extends Error {
  readonly code = 'rebuild_differs';

  constructor(readonly projection: string) {
    super(`the new build of ${projection} holds other rows than the one that serves`);
  }
}

export const isBuildRefused = (error: unknown): error is BuildRefused => error instanceof BuildRefused;
export const isRebuildDiffers = (error: unknown): error is RebuildDiffers => error instanceof RebuildDiffers;
