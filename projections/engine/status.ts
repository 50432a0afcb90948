/** Where a projection stands, as operators see it. Never holds content: an error is its code, the event's type and position. */
export interface ProjectionStatus extends Pace {
  readonly name: string;
  readonly version: number;
  readonly state: 'caught_up' | 'catching_up' | 'building' | 'stopped';
  /** Last position of the log. */
  readonly head: bigint;
  readonly last_error: string | null;
  /** Number of the build that serves: it grows with every rebuild. 0 while none serves. */
  readonly build: number;
  /** The build that is to replace the one that serves, while it is being made. */
  readonly rebuild: RebuildStatus | null;
  /** Why the last rebuild in this process failed; null when it did not. */
  readonly rebuild_error: string | null;
  /** Every build that is kept, the one that serves first. */
  readonly builds: readonly BuildStatus[];
}

interface Pace {
  /** Last position whose event is in the rows; -1 before the first. */
  readonly position: bigint;
  /** `seconds` is the age of the oldest event not yet applied, 0 when there is none. */
  readonly lag: { readonly positions: bigint; readonly seconds: number };
  /** Events a second over the last ten seconds. */
  readonly rate: number;
  /** Seconds until the head at the present rate; null when nothing moves. */
  readonly eta_seconds: number | null;
}

export interface BuildStatus extends Pace {
  readonly version: number;
  readonly build: number;
  /** What it is for; of one that is being built or stands still, too. */
  readonly role: 'ready' | 'serving' | 'standby';
  /** `catching_up`: it stood still and is being brought level. */
  readonly state: 'building' | 'catching_up' | 'ready' | 'serving' | 'standby' | 'stopped';
  /** Whether the code of this process projects its version: else it stands still, and cannot serve again. */
  readonly projected: boolean;
  /** Why it stands still. */
  readonly last_error: string | null;
  /** Position of the event that it stopped at. */
  readonly failed_position: bigint | null;
  /** Whether everything that was erased up to the group's position is gone from it. */
  readonly purged: boolean;
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
