import { Backoff } from '../../src/backoff.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { applyEvents, type Target } from './apply.js';
import { BatchSize } from './batch-size.js';
import { olderReadersDone, serveBuild } from './build-life.js';
import { advanceBuild, lockGroup, readBuilds, readGroup, stopBuild, type Build } from './builds.js';
import { decodeFor, deliveredTo, type Delivered } from './deliveries.js';
import { RebuildFailed } from './errors.js';
import { isPassing } from './failures.js';
import { Gathering, type Batch } from './log-batches.js';
import { rebuildBatchEvents, type EngineSettings } from './options.js';
import { type Gate, Meter, outagePauses } from './pacing.js';
import { applyUntilPoison } from './poison.js';
import type { Projection } from './projection.js';
import { analyze } from './schema-sql.js';
import type { RebuildProgress } from './status.js';

/** Longer than a recall holds its locks, shorter than PostgreSQL waits before it kills one side of a deadlock (1 s): the switch gives way. */
const lockTimeout = '500ms';

/** How long the group stands still for readers that began before it was level: longer than a recall takes. */
const patienceMs = 1000;

/** How often the group may move on between the last read and the switch, where another process owns it. */
const switchAttempts = 100;

export interface RebuildOrder {
  readonly settings: EngineSettings;
  readonly projection: Projection;
  readonly build: Build;
  /** Nothing served before: where this build stops at an event, it serves what it has. */
  readonly first: boolean;
  /** Held while the build joins the group, so that the group stands still. */
  readonly gate: Gate;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: RebuildProgress) => void;
}

/** Fills a build from event 0 on, in transactions of its own, and lets it serve once it is level with the group. */
export class Rebuild {
  readonly meter = new Meter();
  private readonly target: Target;
  private readonly size: BatchSize;
  private readonly started = performance.now();
  private position: bigint;
  private events = 0;
  private head = -1n;

  constructor(private readonly order: RebuildOrder) {
    const { settings, projection, build } = order;
    this.target = { projection, schema: build.schema, embeddingContract: settings.embeddingContract };
    this.size = new BatchSize(rebuildBatchEvents, settings.database.embedded);
    this.position = build.position ?? -1n;
  }

  /** @throws RebuildFailed */
  async run(): Promise<void> {
    const { settings, build, projection, gate, signal } = this.order;
    await this.persist(() => this.replay());
    await this.persist(() => settings.database.asOwner((queries) => queries.execute(analyze(build.schema, projection))));
    // Readers that take longer than the group may stand still are waited for here, and what came meanwhile is replayed.
    await this.persist(() => olderReadersDone(settings.database, 10 * patienceMs, signal));
    await this.persist(() => this.replay());
    await this.persist(() => gate.pass(() => this.join()));
  }

  /** Tries again what fails for passing trouble, from the position the database knows: a commit whose answer was lost may have succeeded. */
  private async persist(step: () => Promise<unknown>): Promise<void> {
    const backoff = new Backoff(outagePauses);
    for (let again = false; ; again = true) {
      try {
        if (again && (await this.served())) return;
        await step();
        return;
      } catch (error) {
        if (this.order.signal.aborted) throw this.failed('the engine stopped');
        if (!isPassing(error)) throw error;
        await backoff.pause(this.order.signal);
      }
    }
  }

  private async served(): Promise<boolean> {
    const own = (await readBuilds(this.order.settings.database)).find(({ schema }) => schema === this.order.build.schema);
    if (!own || own.state === 'stopped') throw this.failed('it was discarded by another process');
    this.position = own.position ?? this.position;
    return own.state === 'active';
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
    for await (const batch of this.batches(until)) {
      if (this.order.signal.aborted) throw this.failed('the engine stopped');
      await this.apply(batch);
      this.tell();
    }
  }

  private async *batches(until: bigint): AsyncGenerator<Batch, void, undefined> {
    const { log, codec } = this.order.settings;
    const types = new Set<string>(this.order.projection.eventTypes);
    const gathering = new Gathering();
    for await (const event of log.readAll({ after: this.position, prefix: codec.streamPrefix, until })) {
      if (!types.has(event.type)) continue;
      gathering.add(event);
      if (gathering.full(this.size.events)) yield { events: gathering.take(), position: event.position };
    }
    if (this.position < until) yield { events: gathering.take(), position: until };
  }

  private async apply(batch: Batch): Promise<void> {
    const delivered = await this.decode(batch.events);
    try {
      if (delivered.undecodable) throw delivered.undecodable.error;
      const started = performance.now();
      await this.order.settings.database.as('mneme_projector', async (queries) => {
        if (!(await advanceBuild(queries, this.order.build.schema, this.position, batch.position))) throw this.taken();
        await applyEvents(queries, this.target, delivered.events);
      });
      this.size.took(batch.events.length, performance.now() - started);
    } catch (error) {
      if (isPassing(error) || error instanceof RebuildFailed) throw error;
      await this.applyCarefully(batch, delivered);
    }
    this.events += batch.events.length;
    this.position = batch.position;
    this.meter.add(batch.events.length, batch.position);
  }

  /** Finds the event at fault. Where nothing served before, the build then serves what came before that event. */
  private async applyCarefully(batch: Batch, delivered: Delivered): Promise<void> {
    const poison = await this.order.settings.database.as('mneme_projector', async (queries) => {
      if (!(await advanceBuild(queries, this.order.build.schema, this.position, batch.position))) throw this.taken();
      const found = await applyUntilPoison(queries, this.target, delivered);
      if (!found) return undefined;
      if (!this.order.first) throw this.failed(found.description);
      const last = batch.events.findLast(({ position }) => position < found.position)?.position ?? this.position;
      await stopBuild(queries, this.order.build.schema, last, found.description, found.position);
      return found;
    });
    if (poison) throw this.failed(poison.description);
  }

  private decode = async (events: readonly StoredEvent[]): Promise<Delivered> =>
    deliveredTo(this.order.projection, await decodeFor([this.order.projection], this.order.settings.codec, events));

  /** Here the group stands still meanwhile; where another process owns it, again until it did for long enough. */
  private async join(): Promise<void> {
    for (let attempt = 0; attempt < switchAttempts; attempt++) {
      await this.replayTo(await this.groupPosition());
      await olderReadersDone(this.order.settings.database, patienceMs, this.order.signal);
      const ahead = await this.readAhead();
      if (await this.switchOver(ahead)) return;
      if (this.order.signal.aborted) throw this.failed('the engine stopped');
    }
    throw this.failed('the group never stood still long enough to switch');
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
  private async switchOver(ahead: { events: readonly RecordedEvent[]; until: bigint }): Promise<boolean> {
    const { settings, build, projection } = this.order;
    let applied = 0;
    try {
      return await settings.database.asOwner(async (queries) => {
        await queries.execute(`SET LOCAL lock_timeout = '${lockTimeout}'`);
        const { position } = await lockGroup(queries);
        if (position > ahead.until && position > this.position) return false;
        const rest = ahead.events.filter((event) => event.position <= position);
        applied = rest.length;
        await queries.execute('SET LOCAL ROLE mneme_projector');
        if (!(await advanceBuild(queries, build.schema, this.position, position))) throw this.taken();
        await applyEvents(queries, this.target, rest);
        await queries.execute('SET LOCAL ROLE NONE');
        await serveBuild(queries, projection, build);
        return true;
      });
    } catch (error) {
      if (applied === 0 || isPassing(error) || error instanceof RebuildFailed) throw error;
      return false; // Perhaps an event cannot be applied: the next replay meets it too, and says which.
    }
  }

  private tell(): void {
    const { position, head, events } = this;
    const seconds = Math.max(0.001, (performance.now() - this.started) / 1000);
    this.order.onProgress({ projection: this.order.projection.name, position, head, events, rate: events / seconds });
  }

  private taken = (): RebuildFailed => this.failed('it was discarded by another process');
  private failed = (reason: string): RebuildFailed => new RebuildFailed(this.order.projection.name, reason);
}
