import { setTimeout as pause } from 'node:timers/promises';
import { discardBuild, makeBuild } from './build-life.js';
import { lockGroup, noteFailedReplacement, type Build } from './builds.js';
import { ProjectionUnknown, RebuildFailed, RebuildRunning } from './errors.js';
import { describeError } from './failures.js';
import { ProjectionGroup } from './group.js';
import { Lease } from './lease.js';
import { engineSettings, type EngineSettings, type ProjectionEngineOptions } from './options.js';
import { Bell, Gate, type Meter } from './pacing.js';
import { readProgress, readStatus, standingOf } from './progress.js';
import type { Projection } from './projection.js';
import { Rebuild } from './rebuild.js';
import { checkLog, takeOver, type Ownership, type ToBuild } from './start-up.js';
import type { ProjectionStatus, RebuildProgress } from './status.js';

export type { EngineLogger, EventDecoder, ProjectionEngineOptions } from './options.js';

/** How often a waiting reader looks for what another process has applied, milliseconds. */
const lookMs = 25;

/** Keeps the read models level with the log: one group of projections, one transaction and one checkpoint a batch. */
export class ProjectionEngine {
  private readonly settings: EngineSettings;
  private readonly gate = new Gate();
  private readonly bell = new Bell();
  private readonly builders = new Map<string, Meter>();
  private readonly failures = new Map<string, string>();
  private group: ProjectionGroup | undefined;
  private superseded = false;
  private stopping = new AbortController();
  private running: Promise<unknown> | undefined;
  private readonly fillings = new Set<Promise<void>>();

  constructor(options: ProjectionEngineOptions) {
    this.settings = engineSettings(options);
  }

  /**
   * Makes missing schemas, takes ownership of the group, and starts applying events; stands by while another owner is alive,
   * and takes over when it ends. Projections that are new to a log
   * that was read already are built meanwhile and join the group when they are level with it.
   *
   * @throws LogMismatch when the checkpoints belong to another log or lie beyond its head
   */
  async start(): Promise<void> {
    if (this.running) throw new Error('the projection engine runs already');
    await checkLog(this.settings);
    const owned = await takeOver(this.settings);
    this.stopping = new AbortController();
    this.superseded = false;
    this.running = this.keepOwning(owned);
  }

  /** Ends after the batch at hand, rebuilds too. */
  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
    await Promise.allSettled(this.fillings);
    this.running = undefined;
    this.group = undefined;
  }

  /** Whether this process keeps the read models level. Of several on one database one does, the others stand by. */
  get projects(): boolean {
    return this.group !== undefined;
  }

  /** Of all declared projections. @throws LogUnavailable, DatabaseUnavailable */
  async status(): Promise<ProjectionStatus[]> {
    return readStatus(this.settings, {
      group: this.group?.meter,
      builders: this.builders,
      failures: this.failures,
      trouble: this.superseded ? 'superseded: another process has taken over' : this.group?.lastTrouble,
    });
  }

  /**
   * Builds the projection anew from event 0 beside the one that serves, then switches in one transaction. A stopped
   * projection is healthy afterwards.
   *
   * @throws ProjectionUnknown, RebuildRunning, RebuildFailed; what served before a failed one still does
   */
  async rebuild(name: string, onProgress: (progress: RebuildProgress) => void = () => undefined): Promise<void> {
    const projection = this.declared(name);
    // Before anything is awaited: whoever looks after asking for a rebuild must not see why an earlier one failed.
    this.failures.delete(name);
    const build = await this.newBuild(projection);
    try {
      await this.fill(projection, build, false, onProgress);
    } catch (error) {
      this.failures.set(name, error instanceof RebuildFailed ? error.reason : describeError(error));
      throw error;
    }
  }

  /**
   * Waits until the group has applied `position`, or for `timeoutMs`; not for a stopped projection, which never will.
   *
   * @param projections names that the read depends on: a stopped one, or one being built, counts with its own position
   * @throws ProjectionUnknown, DatabaseUnavailable; the signal's reason when it aborts
   */
  async waitFor(
    position: bigint,
    timeoutMs: number,
    projections: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ reached: boolean; position: bigint }> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const rings = this.bell.rings;
      const { reached, hopeless, told } = await this.reached(position, projections);
      const left = until - performance.now();
      if (reached >= position) return { reached: true, position: reached };
      if (left <= 0 || hopeless) return { reached: false, position: reached };
      await this.bell.next(rings, told ? left : Math.min(left, lookMs), signal);
    }
  }

  /** `told`: the bell rings when there is news; else it must be looked for. */
  private async reached(
    wanted: bigint,
    names: readonly string[],
  ): Promise<{ reached: bigint; hopeless: boolean; told: boolean }> {
    const projections = names.map((name) => this.declared(name));
    const current = this.group?.current;
    const told = current !== undefined && projections.every((each) => standingOf(each, current).state === 'active');
    if (told) return { reached: current.position, hopeless: false, told };
    const now = await readProgress(this.settings.database);
    const standings = projections.map((each) => standingOf(each, now));
    return {
      reached: standings.reduce((least, { served }) => (served < least ? served : least), now.position),
      hopeless: standings.some(({ state, served }) => state === 'stopped' && served < wanted),
      told,
    };
  }

  private declared(name: string): Projection {
    const projection = this.settings.projections.get(name);
    if (!projection) throw new ProjectionUnknown(name);
    return projection;
  }

  /** Projects while it owns the group, and stands by in between. */
  private async keepOwning(first: Ownership | undefined): Promise<void> {
    for (let owned = first ?? (await this.standBy()); owned; owned = await this.standBy()) {
      const lease = new Lease(this.settings, owned.epoch);
      lease.start();
      this.group = new ProjectionGroup(this.settings, owned.epoch, this.gate, this.bell);
      await Promise.all([this.runGroup(this.group), this.buildMissing(owned.toBuild)]);
      await lease.end();
    }
  }

  /** @returns undefined when the engine stops; without leases nobody can tell that the other owner has ended, so nobody takes over */
  private async standBy(): Promise<Ownership | undefined> {
    const { leaseMs, logger } = this.settings;
    const { signal } = this.stopping;
    while (!signal.aborted && leaseMs > 0) {
      await pause(leaseMs / 5, undefined, { signal }).catch(() => undefined);
      if (isAborted(signal)) return undefined;
      const owned = await takeOver(this.settings).catch(() => undefined); // A database that is away has no owner to tell of.
      if (!owned) continue;
      logger.info({}, 'the process that projected has ended; this one projects now');
      return owned;
    }
    return undefined;
  }

  private async runGroup(group: ProjectionGroup): Promise<void> {
    this.superseded = (await group.run(this.stopping.signal)) === 'superseded';
    this.group = this.superseded ? undefined : group;
    if (this.superseded) this.settings.logger.warn({}, 'another process projects now; this one stands by');
  }

  /** One after the other, in the background: readers of other projections need not wait for them. */
  private async buildMissing(missing: readonly ToBuild[]): Promise<void> {
    for (const { projection, build, first } of missing) {
      if (this.stopping.signal.aborted) return;
      await this.fill(projection, build, first, () => undefined).catch((failure: unknown) => {
        const error = failure instanceof RebuildFailed ? failure.reason : describeError(failure);
        this.settings.logger.error({ projection: projection.name, error }, 'a projection could not be built');
      });
    }
  }

  private async newBuild(projection: Projection): Promise<Build> {
    const build = await this.settings.database.asOwner(async (queries) => {
      await lockGroup(queries);
      return makeBuild(queries, projection);
    });
    if (!build) throw new RebuildRunning(projection.name);
    return build;
  }

  private async fill(
    projection: Projection,
    build: Build,
    first: boolean,
    onProgress: (progress: RebuildProgress) => void,
  ): Promise<void> {
    const { settings, gate } = this;
    const rebuild = new Rebuild({ settings, projection, build, first, gate, signal: this.stopping.signal, onProgress });
    const filling = this.finish(rebuild, projection, build);
    this.fillings.add(filling);
    this.builders.set(projection.name, rebuild.meter);
    try {
      await filling;
    } finally {
      this.fillings.delete(filling);
      this.builders.delete(projection.name);
      this.group?.forget();
      this.bell.ring();
    }
    settings.onBatch();
  }

  private async finish(rebuild: Rebuild, projection: Projection, build: Build): Promise<void> {
    try {
      await rebuild.run();
    } catch (error) {
      const failure = error instanceof RebuildFailed ? error : new RebuildFailed(projection.name, describeError(error));
      await this.settings.database
        .asOwner(async (queries) => {
          await discardBuild(queries, build.schema);
          await noteFailedReplacement(queries, projection.name, failure.reason);
        })
        .catch(() => undefined); // A build that cannot even be dropped now is dropped by the next start.
      throw failure;
    }
  }
}

/** Read anew after every await, which the compiler's narrowing does not know. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;
