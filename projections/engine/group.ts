import { Backoff } from '../../src/backoff.js';
import { applyEvents, type Target } from './apply.js';
import { BatchSize } from './batch-size.js';
import { advanceGroup, readBuilds, readGroup, stopBuild, type Build, type GroupRow } from './builds.js';
import { decodeFor, deliveredTo, type Deliveries } from './deliveries.js';
import { LogMismatch } from './errors.js';
import { describeError, isPassing } from './failures.js';
import { LogBatches, type Batch } from './log-batches.js';
import type { EngineSettings } from './options.js';
import { type Bell, type Gate, Meter, outagePauses } from './pacing.js';
import { applyUntilPoison, type Poison } from './poison.js';

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
    let poisons: ReadonlyMap<string, Poison> = new Map();
    try {
      await this.applyAll(state, batch, targets, deliveries);
    } catch (error) {
      if (isPassing(error) || error instanceof CheckpointMoved || error instanceof BuildsChanged) throw error;
      poisons = await this.applyEach(state, batch, targets, deliveries);
    }
    this.know({
      ...state,
      position: batch.position,
      builds: state.builds.map((build) =>
        stoppedBy(poisons.get(build.schema), build, before(state, batch, poisons.get(build.schema))),
      ),
    });
  }

  /** The usual way: no savepoints, so one failing projection fails the batch. */
  private async applyAll(state: State, batch: Batch, targets: readonly Target[], deliveries: Deliveries): Promise<void> {
    await this.settings.database.as('mneme_projector', async (queries) => {
      await advance(queries, state, batch);
      const started = performance.now();
      for (const target of targets) {
        const { events, undecodable } = deliveredTo(target.projection, deliveries);
        if (undecodable) throw undecodable.error;
        await applyEvents(queries, target, events);
      }
      this.size.took(batch.events.length, performance.now() - started);
    });
  }

  /** Each projection as far as it gets; one that meets an event it cannot apply leaves the group before that event. */
  private async applyEach(
    state: State,
    batch: Batch,
    targets: readonly Target[],
    deliveries: Deliveries,
  ): Promise<Map<string, Poison>> {
    const poisons = new Map<string, Poison>();
    await this.settings.database.as('mneme_projector', async (queries) => {
      await advance(queries, state, batch);
      for (const target of targets) {
        const poison = await applyUntilPoison(queries, target, deliveredTo(target.projection, deliveries));
        if (!poison) continue;
        poisons.set(target.schema, poison);
        await stopBuild(queries, target.schema, before(state, batch, poison), poison.description, poison.position);
      }
    });
    for (const [schema, { position, description }] of poisons)
      this.settings.logger.error({ schema, position: String(position), error: description }, 'a projection stopped');
    return poisons;
  }

  private targets(builds: readonly Build[]): Target[] {
    return builds.flatMap(({ name, state, schema }) => {
      const projection = state === 'active' ? this.settings.projections.get(name) : undefined;
      return projection ? [{ projection, schema, embeddingContract: this.settings.embeddingContract }] : [];
    });
  }
}

async function advance(queries: Parameters<typeof advanceGroup>[0], state: State, batch: Batch): Promise<void> {
  const generation = await advanceGroup(queries, state, batch.position);
  if (generation === undefined) throw new CheckpointMoved();
  if (generation !== state.generation) throw new BuildsChanged();
}

/** The last position that a projection has applied which stopped at this event. */
function before(state: State, batch: Batch, poison: Poison | undefined): bigint {
  if (!poison) return batch.position;
  return batch.events.findLast(({ position }) => position < poison.position)?.position ?? state.position;
}

const stoppedBy = (poison: Poison | undefined, build: Build, position: bigint): Build =>
  poison ? { ...build, state: 'stopped', position, lastError: poison.description, failedPosition: poison.position } : build;

/** Read anew after every await, which the compiler's narrowing does not know. */
const stopped = (signal: AbortSignal): boolean => signal.aborted;
