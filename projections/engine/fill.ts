import { Backoff } from '../../src/backoff.js';
import type { Queries } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { applyEvents, type Target } from './apply.js';
import { BatchSize } from './batch-size.js';
import { admitBuild } from './build-life.js';
import { advanceBuild, readBuilds, renewBuild, stopBuild, type Build, type Filler } from './builds.js';
import { lockGroup, readGroup } from './checkpoint.js';
import { decodeFor, deliveredTo, type Delivered } from './deliveries.js';
import { RebuildFailed } from './errors.js';
import { isPassing } from './failures.js';
import { Gathering, oneAhead, type Batch } from './log-batches.js';
import { rebuildBatchEvents, type EngineSettings } from './options.js';
import { type Gate, Meter, outagePauses } from './pacing.js';
import { applyUntilPoison } from './poison.js';
import type { Projection } from './projection.js';
import { analyze } from './schema-sql.js';
import type { RebuildProgress } from './status.js';
import { lockTimeout, noteFirst } from './switch-over.js';

/** How often the group may move on between the last read and the joining, where another process owns it. */
const joinAttempts = 100;

/** The build is gone, or not where we left it: the server crashed and lost its last commits, or kept one whose answer was lost. */
class CheckpointMoved extends Error {}

export interface FillOrder {
  readonly settings: EngineSettings;
  readonly projection: Projection;
  readonly build: Build;
  readonly filler: Filler;
  /** Held while the build joins the group, so that the group stands still. */
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RebuildProgress) => void;
}

/** Replays the log into a build from where it is, in transactions of its own, until it is level with the group and joins it. */
export class Fill {
  readonly meter = new Meter();
  private readonly target: Target;
  private readonly size: BatchSize;
  private readonly started = performance.now();
  private skipped: ReadonlySet<bigint> = new Set();
  private position: bigint;
  private events = 0;
  private head = -1n;

  constructor(private readonly order: FillOrder) {
    const { settings, projection, build } = order;
    this.target = { projection, schema: build.schema, embeddingContract: settings.embeddingContract };
    this.size = new BatchSize(rebuildBatchEvents, settings.database.embedded);
    this.position = build.position ?? -1n;
  }

  /** @throws RebuildFailed; a build that stopped at an event keeps what came before it */
  async run(): Promise<void> {
    const { settings, build, projection, gate } = this.order;
    const stopRenewing = this.keepAlive();
    try {
      await this.persist(async () => (this.skipped = await settings.operations.skippedIn(projection.name)));
      await this.persist(() => this.replay());
      await this.persist(() => settings.database.asOwner((queries) => queries.execute(analyze(build.schema, projection))));
      await this.persist(() => this.replay());
      await this.persist(() => gate.pass(() => this.join()));
    } finally {
      await stopRenewing();
    }
  }

  /** Three times in a lease: one that is late does not lose it. A database that is away cannot be told. */
  private keepAlive(): () => Promise<void> {
    const { settings, build, filler } = this.order;
    let renewing: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      renewing = settings.database
        .as('mneme_projector', (queries) => renewBuild(queries, build.schema, filler))
        .catch(() => undefined);
    }, filler.leaseMs / 3);
    return () => {
      clearInterval(timer);
      return renewing;
    };
  }

  /** Tries again what fails for passing trouble, from the position the database knows: a commit whose answer was lost may have succeeded. */
  private async persist(step: () => Promise<unknown>): Promise<void> {
    const backoff = new Backoff(outagePauses);
    for (let again = false; ; again = true) {
      try {
        if (again && (await this.joined())) return;
        await step();
        return;
      } catch (error) {
        if (this.order.signal.aborted) throw this.failed('the engine stopped');
        if (error instanceof CheckpointMoved) continue;
        if (!isPassing(error)) throw error;
        await backoff.pause(this.order.signal);
      }
    }
  }

  private async joined(): Promise<boolean> {
    const own = (await readBuilds(this.order.settings.database)).find(({ schema }) => schema === this.order.build.schema);
    if (own?.state === 'active') return true;
    if (!own || own.failedPosition !== null) throw this.failed(own?.lastError ?? 'it was dropped meanwhile');
    if (own.filler !== this.order.filler.id) throw this.failed('another process has it');
    this.position = own.position ?? this.position;
    return false;
  }

  /** Up to where the group is, again and again until little is left. */
  private async replay(): Promise<void> {
    for (let few = false; !few;) {
      const before = this.events;
      await this.replayTo(await this.groupPosition());
      few = this.events - before <= this.size.events;
    }
  }

  private async groupPosition(): Promise<bigint> {
    return (await readGroup(this.order.settings.database))?.position ?? -1n;
  }

  private async replayTo(until: bigint): Promise<void> {
    this.head = await this.order.settings.log.head();
    for await (const { batch, delivered } of oneAhead(this.prepared(until))) {
      if (this.order.signal.aborted) throw this.failed('the engine stopped');
      await this.apply(batch, delivered);
      this.tell();
    }
  }

  /** Read and decoded while the database writes the batch before. */
  private async *prepared(until: bigint): AsyncGenerator<{ batch: Batch; delivered: Delivered }, void, undefined> {
    for await (const batch of this.batches(until)) yield { batch, delivered: await this.decode(batch.events) };
  }

  private async *batches(until: bigint): AsyncGenerator<Batch, void, undefined> {
    const { log, codec } = this.order.settings;
    const types = new Set<string>(this.order.projection.eventTypes);
    const gathering = new Gathering();
    let reached = this.position;
    for await (const event of log.readAll({ after: reached, prefix: codec.streamPrefix, until })) {
      if (!types.has(event.type) || this.skipped.has(event.position)) continue;
      gathering.add(event);
      if (!gathering.full(this.size.events)) continue;
      reached = event.position;
      yield { events: gathering.take(), position: reached };
    }
    if (reached < until) yield { events: gathering.take(), position: until };
  }

  private async apply(batch: Batch, delivered: Delivered): Promise<void> {
    try {
      if (delivered.undecodable) throw delivered.undecodable.error;
      const started = performance.now();
      await this.order.settings.database.as('mneme_projector', async (queries) => {
        await this.advance(queries, batch.position);
        // A commit that a crash of the server takes back takes rows and checkpoint together, and the replay goes on from there.
        await queries.execute('SET LOCAL synchronous_commit = off');
        await applyEvents(queries, this.target, delivered.events);
      });
      this.size.took(batch.events.length, performance.now() - started);
    } catch (error) {
      if (isPassing(error) || error instanceof CheckpointMoved) throw error;
      await this.applyCarefully(batch, delivered);
    }
    this.events += batch.events.length;
    this.position = batch.position;
    this.meter.add(batch.events.length, batch.position);
  }

  private async advance(queries: Queries, to: bigint): Promise<void> {
    const { build, filler } = this.order;
    if (!(await advanceBuild(queries, build.schema, filler.id, this.position, to))) throw new CheckpointMoved();
  }

  /** Finds the event at fault. The build keeps what came before it, so that it can go on when the event is skipped. */
  private async applyCarefully(batch: Batch, delivered: Delivered): Promise<void> {
    const poison = await this.order.settings.database.as('mneme_projector', async (queries) => {
      await this.advance(queries, batch.position);
      const found = await applyUntilPoison(queries, this.target, delivered);
      if (!found) return undefined;
      const position = batch.events.findLast((event) => event.position < found.position)?.position ?? this.position;
      // What was erased between here and where the group is, is still to be carried out on it.
      const stop = { position, reason: found.description, failedPosition: found.position, purging: false };
      await stopBuild(queries, this.order.build.schema, stop);
      return found;
    });
    if (poison) throw this.failed(poison.description);
  }

  private decode = async (events: readonly StoredEvent[]): Promise<Delivered> =>
    deliveredTo(this.order.projection, await decodeFor([this.order.projection], this.order.settings.codec, events));

  /** Here the group stands still meanwhile; where another process owns it, again until it did for long enough. */
  private async join(): Promise<void> {
    for (let attempt = 0; attempt < joinAttempts; attempt++) {
      await this.replayTo(await this.groupPosition());
      const ahead = await this.readAhead();
      if (await this.joinAt(ahead)) return;
      if (this.order.signal.aborted) throw this.failed('the engine stopped');
    }
    throw this.failed('the group never stood still long enough to join it');
  }

  /** What the group may apply while we wait for its row: no log can be read and no key fetched while that row is locked. */
  private async readAhead(): Promise<{ events: readonly RecordedEvent[]; until: bigint }> {
    const batches = this.batches(await this.order.settings.log.head());
    const { value } = await batches.next();
    await batches.return();
    if (!value) return { events: [], until: this.position };
    const { events, undecodable } = await this.decode(value.events);
    return { events, until: undecodable ? undecodable.event.position - 1n : value.position };
  }

  /** @returns false when the group has moved on further than we read */
  private async joinAt(ahead: { events: readonly RecordedEvent[]; until: bigint }): Promise<boolean> {
    const { settings, build } = this.order;
    let applied = 0;
    try {
      return await settings.database.asOwner(async (queries) => {
        await queries.execute(`SET LOCAL lock_timeout = '${lockTimeout}'`);
        const { position } = await lockGroup(queries);
        if (position > ahead.until && position > this.position) return false;
        const rest = ahead.events.filter((event) => event.position <= position);
        applied = rest.length;
        await queries.execute('SET LOCAL ROLE mneme_projector');
        await this.advance(queries, position);
        await applyEvents(queries, this.target, rest);
        await queries.execute('SET LOCAL ROLE NONE');
        await admitBuild(queries, build);
        if (build.state === 'building' && build.role === 'serving') await noteFirst(queries, build);
        return true;
      });
    } catch (error) {
      if (applied === 0 || isPassing(error) || error instanceof CheckpointMoved) throw error;
      return false; // Perhaps an event cannot be applied: the next replay meets it too, and says which.
    }
  }

  private tell(): void {
    const { position, head, events } = this;
    const seconds = Math.max(0.001, (performance.now() - this.started) / 1000);
    this.order.onProgress({ projection: this.order.projection.name, position, head, events, rate: events / seconds });
  }

  private failed = (reason: string): RebuildFailed => new RebuildFailed(this.order.projection.name, reason);
}
