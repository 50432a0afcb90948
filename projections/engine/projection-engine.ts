import { setTimeout as pause } from 'node:timers/promises';
import type { CommandRequest, Written } from '../../src/event-log/execute.js';
import type { BuildReference } from '../../src/operations/operation.js';
import { Builder } from './builder.js';
import { Caretaker } from './caretaker.js';
import { ProjectionUnknown } from './errors.js';
import { ProjectionGroup } from './group.js';
import { Lease } from './lease.js';
import { Operator, type Rebuilt, type RebuildOptions, type StartedRebuild, type Switched } from './operator.js';
import { engineSettings, type EngineSettings, type ProjectionEngineOptions } from './options.js';
import { readProgress, standingOf } from './progress.js';
import { readStatus } from './read-status.js';
import { checkLog, takeOver, type Ownership } from './start-up.js';
import type { ProjectionStatus } from './status.js';
import type { Verification } from './verify.js';
import { Workshop } from './workshop.js';

export type { EngineLogger, EventDecoder, ProjectionEngineOptions } from './options.js';

/** How often a waiting reader looks for what another process has applied, milliseconds. */
const lookMs = 25;

/** Keeps the read models level with the log: one group of builds, one transaction and one checkpoint a batch. */
export class ProjectionEngine {
  private readonly settings: EngineSettings;
  private readonly workshop: Workshop;
  private readonly builder: Builder;
  private readonly operator: Operator;
  private group: ProjectionGroup | undefined;
  private superseded = false;
  private running: Promise<unknown> | undefined;

  constructor(options: ProjectionEngineOptions) {
    this.settings = engineSettings(options);
    this.workshop = new Workshop(this.settings);
    this.workshop.onBuilds = () => this.group?.forget();
    this.builder = new Builder(this.workshop);
    this.operator = new Operator(this.workshop, this.builder);
  }

  /**
   * Makes missing schemas, takes ownership of the group, and starts applying events; stands by while another owner is alive,
   * and takes over when it ends. Projections that are new to a log that was read already, and new versions, are built
   * meanwhile and join the group when they are level with it.
   *
   * @throws LogMismatch when the checkpoints belong to another log or lie beyond its head
   */
  async start(): Promise<void> {
    if (this.running) throw new Error('the projection engine runs already');
    await checkLog(this.settings);
    const owned = await takeOver(this.settings, this.workshop.filler.id);
    this.workshop.open();
    this.superseded = false;
    this.running = this.keepOwning(owned);
  }

  /** Ends after the batch at hand, rebuilds too. */
  async stop(): Promise<void> {
    this.workshop.close();
    await this.running;
    await this.builder.idle();
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
      builders: this.builder.meters,
      failures: this.builder.failures,
      trouble: this.superseded ? 'superseded: another process has taken over' : this.group?.lastTrouble,
    });
  }

  /**
   * Builds the projection anew from event 0 beside the one that serves, compares the two, and switches in one transaction;
   * what served stands by. A stopped projection is healthy afterwards. An older build that was ready is dropped.
   *
   * @throws ProjectionUnknown, RebuildRunning, BuildRefused `version_not_declared`
   * @throws RebuildFailed what served before still does; a build that stopped at an event is kept, so that it can be skipped
   * @throws RebuildDiffers the new build is ready, and waits for an operator
   */
  async rebuild(name: string, options: RebuildOptions = {}): Promise<Rebuilt> {
    return (await this.startRebuild(name, options)).finished;
  }

  /** The same in the background: resolves when the new build is begun. */
  startRebuild(name: string, options: RebuildOptions = {}): Promise<StartedRebuild> {
    return this.operator.startRebuild(name, options);
  }

  /** Compares what is ready, or else what stands by, with what serves. @throws ProjectionUnknown, BuildRefused */
  verify(name: string): Promise<Verification> {
    return this.operator.verify(name);
  }

  /** Lets the build that is ready serve. @throws ProjectionUnknown, BuildRefused, and see `Operator.switch` */
  switch(name: string, request: CommandRequest): Promise<Switched> {
    return this.operator.switch(name, 'ready', request);
  }

  /** Lets the build serve that did before. @throws ProjectionUnknown, BuildRefused, and see `Operator.switch` */
  rollback(name: string, request: CommandRequest): Promise<Switched> {
    return this.operator.switch(name, 'standby', request);
  }

  /** @throws ProjectionUnknown, BuildRefused `nothing_to_drop` */
  drop(name: string, role?: 'ready' | 'standby'): Promise<BuildReference[]> {
    return this.operator.drop(name, role);
  }

  /** Leaves an event out for good. @throws ProjectionUnknown, CommandRefused, and see `Operator.skip` */
  skip(name: string, position: bigint, reason: string | undefined, request: CommandRequest): Promise<Written> {
    return this.operator.skip(name, position, reason, request);
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
    const { bell } = this.workshop;
    const until = performance.now() + timeoutMs;
    for (;;) {
      signal?.throwIfAborted();
      const rings = bell.rings;
      const { reached, hopeless, told } = await this.reached(position, projections);
      const left = until - performance.now();
      if (reached >= position) return { reached: true, position: reached };
      if (left <= 0 || hopeless) return { reached: false, position: reached };
      await bell.next(rings, told ? left : Math.min(left, lookMs), signal);
    }
  }

  /** `told`: the bell rings when there is news; else it must be looked for. */
  private async reached(
    wanted: bigint,
    names: readonly string[],
  ): Promise<{ reached: bigint; hopeless: boolean; told: boolean }> {
    const { projections, database } = this.settings;
    for (const name of names) if (!projections.has(name)) throw new ProjectionUnknown(name);
    const current = this.group?.current;
    const told = current !== undefined && names.every((name) => standingOf(name, projections, current).state === 'active');
    if (told) return { reached: current.position, hopeless: false, told };
    const now = await readProgress(database);
    const standings = names.map((name) => standingOf(name, projections, now));
    return {
      reached: standings.reduce((least, { served }) => (served < least ? served : least), now.position),
      hopeless: standings.some(({ state, served }) => state === 'stopped' && served < wanted),
      told,
    };
  }

  /** Projects while it owns the group, and stands by in between. */
  private async keepOwning(first: Ownership | undefined): Promise<void> {
    for (let owned = first ?? (await this.standBy()); owned; owned = await this.standBy()) {
      const lease = new Lease(this.settings, owned.epoch);
      lease.start();
      await this.own(owned);
      await lease.end();
    }
  }

  private async own(owned: Ownership): Promise<void> {
    const { workshop, builder, operator } = this;
    const owning = new AbortController();
    const either = AbortSignal.any([workshop.signal, owning.signal]);
    const group = new ProjectionGroup(this.settings, owned.epoch, workshop.gate, workshop.bell);
    this.group = group;
    const caring = new Caretaker(workshop, { builder, operator }, owned.epoch).run(owned, either);
    await this.runGroup(group);
    owning.abort();
    await caring;
  }

  /** @returns undefined when the engine stops; without leases nobody can tell that the other owner has ended, so nobody takes over */
  private async standBy(): Promise<Ownership | undefined> {
    const { leaseMs, logger } = this.settings;
    const { signal } = this.workshop;
    while (!signal.aborted && leaseMs > 0) {
      await pause(leaseMs / 5, undefined, { signal }).catch(() => undefined);
      if (isAborted(signal)) return undefined;
      // A database that is away has no owner to tell of.
      const owned = await takeOver(this.settings, this.workshop.filler.id).catch(() => undefined);
      if (!owned) continue;
      logger.info({}, 'the process that projected has ended; this one projects now');
      return owned;
    }
    return undefined;
  }

  private async runGroup(group: ProjectionGroup): Promise<void> {
    this.superseded = (await group.run(this.workshop.signal)) === 'superseded';
    this.group = this.superseded ? undefined : group;
    if (this.superseded) this.settings.logger.warn({}, 'another process projects now; this one stands by');
  }
}

/** Read anew after every await, which the compiler's narrowing does not know. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;
