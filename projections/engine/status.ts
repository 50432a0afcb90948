/** Where a projection stands, as operators see it. Never holds content: an error is its code, the event's type and position. */
export interface ProjectionStatus {
  readonly name: string;
  readonly version: number;
  readonly state: 'caught_up' | 'catching_up' | 'building' | 'stopped';
  /** Last position whose event is in the rows; -1 before the first. */
  readonly position: bigint;
  /** Last position of the log. */
  readonly head: bigint;
  /** `seconds` is the age of the oldest event not yet applied, 0 when there is none. */
  readonly lag: { readonly positions: bigint; readonly seconds: number };
  /** Events a second over the last ten seconds. */
  readonly rate: number;
  /** Seconds until the head at the present rate; null when nothing moves. */
  readonly eta_seconds: number | null;
  readonly last_error: string | null;
  /** Number of the build that serves: it grows with every rebuild. 0 while none serves. */
  readonly build: number;
  /** The build that is to replace the one that serves, while it is being made. */
  readonly rebuild: RebuildStatus | null;
  /** Why the last rebuild in this process failed; null when it did not. */
  readonly rebuild_error: string | null;
}

export interface RebuildStatus {
  /** Last position whose event is in its rows; -1 before the first. */
  readonly position: bigint;
  /** Events a second over the last ten seconds. */
  readonly rate: number;
  /** Seconds until it is level with the log at that rate; null when nothing moves. */
  readonly eta_seconds: number | null;
}

/** How far a rebuild is. */
export interface RebuildProgress {
  readonly projection: string;
  readonly position: bigint;
  readonly head: bigint;
  /** Events read so far. */
  readonly events: number;
  /** Events a second since the rebuild began. */
  readonly rate: number;
}
