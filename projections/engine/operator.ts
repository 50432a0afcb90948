import type { CommandRequest, Written } from '../../src/event-log/execute.js';
import type { BuildReference } from '../../src/operations/operation.js';
import { dropBuild } from './build-life.js';
import type { Builder } from './builder.js';
import { buildsOf, passOver, type Build } from './builds.js';
import { lockGroup } from './checkpoint.js';
import { BuildRefused, ProjectionUnknown, RebuildDiffers, RebuildFailed } from './errors.js';
import { describeError } from './failures.js';
import type { SkipOrder, SwitchRecord } from './operation-log.js';
import type { Projection } from './projection.js';
import { isErasure } from './purge.js';
import type { RebuildProgress } from './status.js';
import { ownContext, switchOver, type SwitchOrder } from './switch-over.js';
import { markRecorded } from './switches.js';
import { verify, type Verification } from './verify.js';
import type { Workshop } from './workshop.js';

export interface RebuildOptions {
  /** Ends when the new build is ready, without comparing and switching. */
  readonly hold?: boolean;
  /** Default: the version that serves, or the latest where the code does not project that. */
  readonly version?: number | undefined;
  readonly onProgress?: (progress: RebuildProgress) => void;
  /** Who asks for it. */
  readonly request?: CommandRequest;
}

export interface Rebuilt extends BuildReference {
  /** Undefined where nothing was compared: on hold, or because what served was stopped or nothing served. */
  readonly verification: Verification | undefined;
}

export interface StartedRebuild extends BuildReference {
  /** @throws RebuildFailed, RebuildDiffers */
  readonly finished: Promise<Rebuilt>;
}

export interface Switched {
  readonly record: SwitchRecord;
  readonly written: Written;
}

/** What is done to builds because somebody asks for it, in whatever process. */
export class Operator {
  constructor(
    private readonly workshop: Workshop,
    private readonly builder: Builder,
  ) {}

  /**
   * Builds anew from event 0 beside what serves; see `ProjectionEngine.rebuild`.
   *
   * @throws ProjectionUnknown, RebuildRunning, BuildRefused `version_not_declared`
   */
  async startRebuild(name: string, options: RebuildOptions): Promise<StartedRebuild> {
    const projection = await this.wanted(name, options.version);
    const build = await this.builder.make(projection);
    const finished = this.builder.tracked(this.finish(projection, build, options));
    finished.catch(() => undefined); // It is in the logs and in the status, whether somebody waits for it or not.
    return { version: build.version, build: build.build, finished };
  }

  async verify(name: string): Promise<Verification> {
    this.mustBeDeclared(name);
    return verify(this.workshop.settings, name);
  }

  /** @throws ProjectionUnknown, BuildRefused, VersionConflict, DatabaseUnavailable, what appending the event throws: the switch stands then */
  async switch(name: string, role: SwitchOrder['role'], request: CommandRequest): Promise<Switched> {
    this.mustBeDeclared(name);
    await this.workshop.settings.operations.expectRevision(name, request);
    const record = await this.switchOver({
      name,
      role,
      kind: role === 'ready' ? 'switch' : 'rollback',
      context: request.context,
    });
    return { record, written: await this.record(record) };
  }

  /** The switch alone; its event follows here, or by the owner's hand. */
  async switchAndRecord(order: Omit<SwitchOrder, 'signal'>): Promise<SwitchRecord> {
    const record = await this.switchOver(order);
    await this.record(record).catch((error: unknown) =>
      this.workshop.settings.logger.warn({ error: describeError(error) }, 'a switch is to be recorded later'),
    );
    return record;
  }

  /** Appends the event of a switch, unless it is there. */
  async record(record: SwitchRecord): Promise<Written> {
    const { operations, database } = this.workshop.settings;
    const written = await operations.recordSwitch(record);
    await markRecorded(database, record.id);
    return written;
  }

  /**
   * Drops the builds that do not serve, or the one of the role that is named; a rebuild that is under way ends.
   *
   * @throws ProjectionUnknown, BuildRefused `nothing_to_drop`
   */
  async drop(name: string, role?: 'ready' | 'standby'): Promise<BuildReference[]> {
    this.mustBeDeclared(name);
    const { database } = this.workshop.settings;
    const dropped = await database.asOwner(async (queries) => {
      await lockGroup(queries);
      const builds = (await buildsOf(queries, name)).filter(
        (build) => build.role !== 'serving' && build.role === (role ?? build.role),
      );
      for (const { schema } of builds) await dropBuild(queries, schema);
      return builds.map(({ version, build }) => ({ version, build }));
    });
    this.workshop.buildsChanged();
    if (dropped.length === 0) throw new BuildRefused('nothing_to_drop', name);
    return dropped;
  }

  /**
   * Leaves an event out, for good: builds that stopped at it go on after it.
   *
   * @throws ProjectionUnknown, CommandRefused `nothing_stopped_there`, `erasure_not_skippable`
   */
  async skip(name: string, position: bigint, reason: string | undefined, request: CommandRequest): Promise<Written> {
    this.mustBeDeclared(name);
    const { database, operations } = this.workshop.settings;
    const stopped = (await buildsOf(database, name)).find(({ failedPosition }) => failedPosition === position);
    const order: SkipOrder = {
      projection: name,
      position,
      reason,
      stopped: stopped?.version,
      erasure: stopped !== undefined && (await this.stoppedAtErasure(stopped)),
    };
    const written = await operations.skip(order, request);
    this.builder.start(() => this.applySkips(name));
    return written;
  }

  /** Lets builds go on whose event is skipped; the skip is in the log, so that this may be done later, and by another. */
  async applySkips(name: string): Promise<void> {
    const { database, operations } = this.workshop.settings;
    const skipped = await operations.skippedIn(name);
    const passed: Build[] = [];
    for (const build of await buildsOf(database, name)) {
      const { schema, failedPosition } = build;
      if (failedPosition === null || !skipped.has(failedPosition)) continue;
      if (await database.as('mneme_projector', (queries) => passOver(queries, schema, failedPosition))) passed.push(build);
    }
    if (passed.length > 0) await this.builder.resume(name);
  }

  private async finish(projection: Projection, build: Build, options: RebuildOptions): Promise<Rebuilt> {
    const { name } = projection;
    await this.builder.fill({ projection, build }, options.onProgress);
    const { version, build: number } = build;
    if (options.hold || build.role === 'serving') return { version, build: number, verification: undefined };
    try {
      const verification = await this.compare(name);
      if (verification && !verification.equal) throw new RebuildDiffers(name);
      const context = options.request?.context ?? ownContext();
      await this.switchAndRecord({ name, role: 'ready', kind: 'rebuild', context });
      this.workshop.settings.logger.info({ projection: name, version, build: number }, 'a read model was rebuilt');
      return { version, build: number, verification };
    } catch (failure) {
      const known = failure instanceof RebuildDiffers ? failure : new RebuildFailed(name, describeError(failure));
      this.builder.failures.set(name, known instanceof RebuildDiffers ? known.code : known.reason);
      throw known;
    }
  }

  /** Undefined where what serves is stopped: it is at another position, and this is what mends it. */
  private async compare(name: string): Promise<Verification | undefined> {
    try {
      return await verify(this.workshop.settings, name);
    } catch (error) {
      if (!(error instanceof BuildRefused) || error.code !== 'builds_not_level') throw error;
      return undefined;
    }
  }

  private async switchOver(order: Omit<SwitchOrder, 'signal'>): Promise<SwitchRecord> {
    const { settings, signal } = this.workshop;
    const record = await switchOver(settings, { ...order, signal });
    this.workshop.buildsChanged();
    settings.onBatch();
    return record;
  }

  private mustBeDeclared(name: string): void {
    if (!this.workshop.settings.projections.has(name)) throw new ProjectionUnknown(name);
  }

  private async wanted(name: string, version: number | undefined): Promise<Projection> {
    const { projections, database } = this.workshop.settings;
    const latest = projections.latest(name);
    if (!latest) throw new ProjectionUnknown(name);
    if (version !== undefined) {
      const named = projections.of({ name, version });
      if (!named) throw new BuildRefused('version_not_declared', name);
      return named;
    }
    const serving = (await buildsOf(database, name)).find(({ role }) => role === 'serving');
    return (serving && projections.of(serving)) ?? latest;
  }

  /** Read from where the build stands: not every number is a position that a log can be read from. */
  private async stoppedAtErasure({ position, failedPosition }: Build): Promise<boolean> {
    const { log, codec } = this.workshop.settings;
    if (failedPosition === null) return false;
    for await (const event of log.readAll({ after: position ?? -1n, prefix: codec.streamPrefix, until: failedPosition }))
      if (event.position === failedPosition) return isErasure(event);
    return false;
  }
}
