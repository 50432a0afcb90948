import { Backoff } from '../../src/backoff.js';
import type { Queries } from '../../src/database/database.js';
import { applyEvents, type Target } from './apply.js';
import { BatchSize } from './batch-size.js';
import { readBuilds, stopBuild, type Build, type Standstill } from './builds.js';
import { advanceGroup, readGroup, type GroupRow } from './checkpoint.js';
import { decodeFor, deliveredTo, type Deliveries } from './deliveries.js';
import { LogMismatch } from './errors.js';
import { describeError, isPassing } from './failures.js';
import { LogBatches, type Batch } from './log-batches.js';
import type { EngineSettings } from './options.js';
import { type Bell, type Gate, Meter, outagePauses } from './pacing.js';
import { notProjected } from './plan.js';
import { applyUntilPoison, type Poison } from './poison.js';
import { carryOut, purgesOf } from './purge.js';

/** What the group knows of itself between batches. */
interface State extends GroupRow {
  readonly builds: readonly Build[];
}

/** The checkpoint is not where this owner left it: another owner moved it, or a commit whose answer was lost succeeded. */
class CheckpointMoved extends Error {}
/** A build joined since we looked. */
class BuildsChanged extends Error {}
/** Another owner has taken over. */
class Superseded extends Error {}

/** All healthy projections: one subscription, one transaction and one checkpoint a batch. */
export class ProjectionGroup {
  readonly meter = new Meter();
  private readonly size: BatchSize;
  private state: State | undefined;
  private trouble: string | undefined;

  constructor(
    private readonly settings: EngineSettings,
    private readonly epoch: bigint,
    /** Closed to batches while a build switches. */
    private readonly gate: Gate,
    /** Rung whenever position or builds may be others. */
    private readonly bell: Bell,
  ) {
    this.size = new BatchSize(settings.batchEvents, settings.database.embedded);
  }

  /** Position and builds as of the last batch; undefined when they must be read. */
  get current(): State | undefined {
    return this.state;
  }

  /** Why nothing moves; undefined while all is well. */
  get lastTrouble(): string | undefined {
    return this.trouble;
  }

  /** Makes the next batch look at the builds again. */
  forget(): void {
    this.know(undefined);
  }

  /**
   * Applies the log until the signal aborts or another owner takes over. Trouble of any kind is tried again, with growing
   * pauses and from the checkpoint, which is read anew each time.
   */
  async run(signal: AbortSignal): Promise<'stopped' | 'superseded'> {
    const backoff = new Backoff(outagePauses);
    while (!signal.aborted) {
      try {
        await this.follow(signal, () => this.recovered(backoff));
      } catch (error) {
        if (stopped(signal)) break;
        this.forget();
        if (error instanceof Superseded) return 'superseded';
        if (error instanceof CheckpointMoved) continue;
        this.trouble = describeError(error);
        this.settings.logger.warn({ error: this.trouble }, 'projections pause and try again');
        await backoff.pause(signal);
      }
    }
    return 'stopped';
  }

  /** Who waits for a position looks again: a lost answer may have been that of a commit, and what is unknown must be read. */
  private know<Known extends State | undefined>(state: Known): Known {
    this.state = state;
    this.bell.ring();
    return state;
  }

  private recovered(backoff: Backoff): void {
    backoff.reset();
    if (this.trouble !== undefined) this.settings.logger.info({}, 'projections go on');
    this.trouble = undefined;
  }

  private async follow(signal: AbortSignal, onBatch: () => void): Promise<never> {
    const { log, codec, batchMs } = this.settings;
    const { position } = await this.look();
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const batches = new LogBatches(log.subscribe({ after: position, prefix: codec.streamPrefix, signal: either }), batchMs);
    try {
      for (;;) {
        const batch = await batches.next(this.size.events);
        await this.gate.pass(() => this.apply(batch));
        onBatch();
      }
    } finally {
      ended.abort();
      await batches.close();
    }
  }

  private async look(): Promise<State> {
    const { database, logId } = this.settings;
    // The row before the builds: a build that joins between the two shows in the generation of the next batch.
    const row = await readGroup(database);
    if (row?.logId !== logId) throw new LogMismatch('the checkpoint is of another log than the events');
    if (row.epoch !== this.epoch) throw new Superseded();
    return this.know({ ...row, builds: await readBuilds(database) });
  }

  private async apply(batch: Batch): Promise<void> {
    for (;;) {
      const state = this.state ?? (await this.look());
      if (batch.position <= state.position) return;
      try {
        await this.applyTo(state, batch);
        break;
      } catch (error) {
        if (!(error instanceof BuildsChanged)) throw error;
        this.forget();
      }
    }
    this.meter.add(batch.events.length, batch.position);
    this.settings.onBatch();
  }

  private async applyTo(state: State, batch: Batch): Promise<void> {
    const targets = this.targets(state.builds);
    const deliveries = await decodeFor(
      targets.map(({ projection }) => projection),
      this.settings.codec,
      batch.events,
    );
    let stops: ReadonlyMap<string, Standstill> = new Map();
    try {
      await this.applyAll(state, batch, targets, deliveries);
    } catch (error) {
      if (isPassing(error) || error instanceof CheckpointMoved || error instanceof BuildsChanged) throw error;
      stops = await this.applyEach(state, batch, targets, deliveries);
    }
    const all = new Map([...this.foreign(state), ...stops]);
    this.know({
      ...state,
      position: batch.position,
      builds: state.builds.map((build) => stoppedBy(all.get(build.schema), build)),
    });
  }

  /** The usual way: no savepoints, so one failing projection fails the batch. */
  private async applyAll(state: State, batch: Batch, targets: readonly Target[], deliveries: Deliveries): Promise<void> {
    await this.settings.database.as('mneme_projector', async (queries) => {
      await this.advance(queries, state, batch);
      const started = performance.now();
      for (const target of targets) {
        const { events, undecodable } = deliveredTo(target.projection, deliveries);
        if (undecodable) throw undecodable.error;
        await applyEvents(queries, target, events);
      }
      await this.purge(queries, state, batch);
      this.size.took(batch.events.length, performance.now() - started);
    });
  }

  /** Each projection as far as it gets; one that meets an event it cannot apply leaves the group before that event. */
  private async applyEach(
    state: State,
    batch: Batch,
    targets: readonly Target[],
    deliveries: Deliveries,
  ): Promise<Map<string, Standstill>> {
    const stops = new Map<string, Standstill>();
    await this.settings.database.as('mneme_projector', async (queries) => {
      await this.advance(queries, state, batch);
      for (const target of targets) {
        const poison = await applyUntilPoison(queries, target, deliveredTo(target.projection, deliveries));
        if (!poison) continue;
        const stop = { position: before(state, batch, poison), reason: poison.description, failedPosition: poison.position };
        stops.set(target.schema, { ...stop, purging: true });
        await stopBuild(queries, target.schema, { ...stop, purging: true });
        const rest = batch.events.filter(({ position }) => position >= poison.position);
        const stopped = state.builds.filter(({ schema }) => schema === target.schema);
        await carryOut(queries, await purgesOf(this.settings, stopped, rest));
      }
      await this.purge(queries, state, batch);
    });
    for (const [schema, { failedPosition, reason }] of stops)
      this.settings.logger.error({ schema, position: String(failedPosition), error: reason }, 'a projection stopped');
    return stops;
  }

  private async advance(queries: Queries, state: State, batch: Batch): Promise<void> {
    const generation = await advanceGroup(queries, state, batch.position);
    if (generation === undefined) throw new CheckpointMoved();
    if (generation !== state.generation) throw new BuildsChanged();
    for (const [schema, stop] of this.foreign(state)) await stopBuild(queries, schema, stop);
  }

  /** Builds that stand still keep nothing that was erased. */
  private async purge(queries: Queries, state: State, batch: Batch): Promise<void> {
    const foreign = this.foreign(state);
    const still = state.builds.filter((build) => foreign.has(build.schema) || (build.state === 'stopped' && build.purging));
    await carryOut(queries, await purgesOf(this.settings, still, batch.events));
  }

  private targets(builds: readonly Build[]): Target[] {
    return builds.flatMap((build) => {
      const projection = build.state === 'active' ? this.settings.projections.of(build) : undefined;
      return projection ? [{ projection, schema: build.schema, embeddingContract: this.settings.embeddingContract }] : [];
    });
  }

  /** Members that this process has no code for: another process, whose code is another, let them join. */
  private foreign({ builds, position }: State): Map<string, Standstill> {
    const { projections } = this.settings;
    const members = builds.filter((build) => build.state === 'active' && !projections.of(build));
    return new Map(
      members.map((build) => {
        const stop = { position, reason: notProjected(build, projections), failedPosition: null, purging: true };
        return [build.schema, stop];
      }),
    );
  }
}

/** The last position that a projection has applied which stopped at this event. */
const before = (state: State, batch: Batch, poison: Poison): bigint =>
  batch.events.findLast(({ position }) => position < poison.position)?.position ?? state.position;

const stoppedBy = (stop: Standstill | undefined, build: Build): Build =>
  stop
    ? {
        ...build,
        state: 'stopped',
        position: stop.position,
        lastError: stop.reason,
        failedPosition: stop.failedPosition,
        purging: stop.purging,
      }
    : build;

/** Read anew after every await, which the compiler's narrowing does not know. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;
