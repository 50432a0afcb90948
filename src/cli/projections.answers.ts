export const pathOfProjections = '/v1/projections';

interface Pace {
  readonly position: number;
  readonly lag: { readonly positions: number; readonly seconds: number };
  readonly rate: number;
  readonly eta_seconds: number | null;
}

/** Number of a build: version = what its rows mean, build = how often that was made anew. */
export interface BuildName {
  readonly version: number;
  readonly build: number;
}

export interface Build extends BuildName, Pace {
  readonly role: 'ready' | 'serving' | 'standby';
  readonly state: 'building' | 'catching_up' | 'ready' | 'serving' | 'standby' | 'stopped';
  readonly projected: boolean;
  readonly last_error: string | null;
  readonly failed_position: number | null;
  readonly purged: boolean;
}

/** A read model as the service shows it. */
export interface Projection extends Pace {
  readonly name: string;
  readonly version: number;
  readonly state: 'caught_up' | 'catching_up' | 'building' | 'stopped';
  readonly head: number;
  readonly last_error: string | null;
  /** Number of the build that serves. */
  readonly build: number;
  readonly rebuild: { readonly position: number; readonly rate: number; readonly eta_seconds: number | null } | null;
  readonly rebuild_error: string | null;
  readonly builds: readonly Build[];
}

interface Digest {
  readonly rows: number;
  readonly checksum: string;
}

/** Two builds compared. */
export interface Verification {
  readonly projection: string;
  readonly position: number;
  readonly serving: BuildName;
  readonly candidate: BuildName & { readonly role: 'ready' | 'standby' };
  readonly equal: boolean;
  readonly tables: readonly {
    readonly table: string;
    readonly serving: Digest | null;
    readonly candidate: Digest | null;
    readonly columns: readonly string[];
    readonly equal: boolean;
    readonly differences: readonly { readonly found: string; readonly key: Readonly<Record<string, string>> }[];
  }[];
}
