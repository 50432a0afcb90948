import type { Batch } from '../../projections/engine/log-batches.js';
import type { DomainEvent, RecordedEvent } from '../event-log/domain-event.js';
import type { StoredEvent } from '../event-log/event-log.js';
import { parseStreamName, systemTeam } from '../event-log/stream-name.js';
import { changeTimers, earliestTimers } from './due-timers.js';
import { atEvent, atTimer, CheckpointMoved, isPassing, Poison, ReadModelsBehind, Superseded } from './failures.js';
import type { ReactorSettings } from './options.js';
import { type Commission, commissionsOf, eventCommandId, Orders, timerCommandId } from './orders.js';
import type { Asked, Reaction, Reactor } from './reactor.js';
import { advanceReactor, holdReactor, type Ownership, readPosition } from './reactor-rows.js';
import { type Cause, checkSetAgain, type StoredTimer, TimerChanges } from './timer-changes.js';

/** Timers looked at together: their commands run one after the other, then one transaction writes what becomes of them. */
const timersAtOnce = 100;
/** How long a reactor waits for the read models before it says so and begins anew, milliseconds. */
const readModelWaitMs = 5_000;
/** A checkpoint that nothing else hangs on is written no more often than this, milliseconds. */
const checkpointMs = 1_000;

/** What follows from one event. */
interface Caused {
  readonly team: string;
  readonly cause: Cause;
  readonly reactions: readonly Reaction[];
}

/** Whether timers were set, so that one of them may be due before anybody would look. */
export interface TimerNews {
  readonly changed: boolean;
}

/** What one look at the timers came to. */
export interface Look {
  readonly fired: number;
  /** When the earliest of those that are left is due. */
  readonly next: Date | undefined;
}

/** One reactor, as long as it is ours: reacts to batches of events and to due timers. Never both at once; the runner sees to it. */
export class OwnedReactor {
  private readonly orders: Orders;
  private readonly eventTypes: ReadonlySet<string>;
  private written: Ownership;
  private writtenAt = performance.now();
  private reached: bigint;

  constructor(
    private readonly settings: ReactorSettings,
    private readonly reactor: Reactor,
    ownership: Ownership,
    private readonly signal: AbortSignal,
  ) {
    this.orders = new Orders(reactor, settings.streams, settings.observer, settings.logger);
    this.eventTypes = new Set(reactor.eventTypes);
    this.written = ownership;
    this.reached = ownership.position;
  }

  /** Last position reacted to; the stored one may lag behind a little. */
  get position(): bigint {
    return this.reached;
  }

  get epoch(): bigint {
    return this.written.epoch;
  }

  /** From where to read on: as stored, since a commit whose answer was lost may have succeeded. @throws Superseded */
  async resume(): Promise<bigint> {
    const { reactor, settings, epoch } = this;
    const position = await settings.database.as('mneme_system', (queries) => readPosition(queries, reactor.name, epoch));
    if (position === undefined) throw new Superseded();
    this.written = { epoch, position };
    this.reached = position;
    return position;
  }

  /** @throws Poison for an event that cannot be handled, Superseded, CheckpointMoved, and passing trouble */
  async handleEvents({ events, position }: Batch): Promise<TimerNews> {
    const wanted = events.filter(({ type }) => this.eventTypes.has(type) || isErasure(type));
    try {
      return await this.react(wanted, position);
    } catch (error) {
      if (this.isNoFault(error)) throw error;
      // One by one, to find the culprit. What was done already is found done.
      for (const event of wanted) await this.reactAlone(event);
      await this.react([], position);
      return { changed: true };
    }
  }

  /** @throws Poison for a timer that cannot be handled, Superseded, and passing trouble */
  async handleTimers(): Promise<Look> {
    if (this.reached > this.written.position) await this.writePosition(this.reached);
    const { database, clock } = this.settings;
    const earliest = await database.as('mneme_system', (queries) => earliestTimers(queries, this.reactor.name, timersAtOnce));
    const now = clock.now();
    const due = earliest.filter(({ dueAt }) => dueAt <= now);
    if (due.length === 0) return { fired: 0, next: earliest[0]?.dueAt };
    // What was acknowledged before now may have made the timer void, so the facts are to know it.
    await this.readModelsPass(await this.settings.log.head());
    try {
      await this.fire(due, now);
    } catch (error) {
      if (this.isNoFault(error)) throw error;
      for (const timer of due) await this.fireAlone(timer, now);
    }
    return { fired: due.length, next: undefined };
  }

  private async reactAlone(event: StoredEvent): Promise<void> {
    try {
      await this.react([event], event.position);
    } catch (error) {
      throw this.isNoFault(error) ? error : new Poison(atEvent(error, event));
    }
  }

  /** Commands first, then timers and checkpoint together: whatever is cut short is done again, and found done. */
  private async react(stored: readonly StoredEvent[], position: bigint): Promise<TimerNews> {
    const changes = new TimerChanges();
    const commissions: Commission[] = [];
    const reactions = await this.reactionsTo(stored.filter(({ type }) => this.eventTypes.has(type)));
    for (const event of stored) {
      const its = reactions.get(event.position);
      if (its) {
        const { cause, team } = its;
        commissions.push(...commissionsOf(its.reactions, { commandId: eventCommandId(this.reactor.name, cause), cause, team }));
        addTimers(changes, team, cause, its.reactions);
      }
      const stream = isErasure(event.type) && parseStreamName(this.settings.codec.streamPrefix, event.stream);
      if (stream && stream.team !== systemTeam) changes.erase(stream);
    }
    for (const commission of commissions) await this.orders.carryOut(commission);
    if (!changes.empty || commissions.length > 0 || performance.now() - this.writtenAt > checkpointMs)
      await this.writePosition(position, changes);
    this.reached = position;
    return { changed: !changes.empty };
  }

  /** By position. */
  private async reactionsTo(stored: readonly StoredEvent[]): Promise<ReadonlyMap<bigint, Caused>> {
    const last = stored.at(-1);
    if (!last) return new Map();
    await this.readModelsPass(last.position);
    const decoded = await this.settings.codec.decode(stored, { content: this.reactor.needsContent });
    const events = decoded.filter(({ team }) => team !== systemTeam);
    const facts = await this.factsOf(events, []);
    return new Map(
      events.map((event) => {
        const { team, position } = event;
        return [position, { team, cause: causeOf(event), reactions: this.reactor.react(event, facts.get(team)) }];
      }),
    );
  }

  private async fireAlone(timer: StoredTimer, now: Date): Promise<void> {
    try {
      await this.fire([timer], now);
    } catch (error) {
      throw this.isNoFault(error) ? error : new Poison(atTimer(error, timer.dueAt));
    }
  }

  private async fire(due: readonly StoredTimer[], now: Date): Promise<void> {
    const changes = new TimerChanges();
    const commissions: Commission[] = [];
    const facts = await this.factsOf([], due);
    for (const timer of due) changes.fired(timer);
    for (const timer of due) {
      const { team, cause } = timer;
      const reactions = this.reactor.due(timer, facts.get(team), now);
      checkSetAgain(timer, reactions);
      const commandId = timerCommandId(this.reactor.name, timer);
      commissions.push(...commissionsOf(reactions, { commandId, cause, team }));
      addTimers(changes, team, cause, reactions);
    }
    for (const commission of commissions) await this.orders.carryOut(commission);
    const { name } = this.reactor;
    await this.settings.database.as('mneme_system', async (queries) => {
      if (!(await holdReactor(queries, name, this.epoch))) throw new Superseded();
      await changeTimers(queries, name, changes);
    });
  }

  /** By team: a request's role sees one team, and so do these. */
  private async factsOf(events: readonly RecordedEvent[], timers: readonly StoredTimer[]): Promise<ReadonlyMap<string, unknown>> {
    const asked = new Map<string, { events: RecordedEvent[]; timers: StoredTimer[] }>();
    const of = (team: string) => {
      const known = asked.get(team) ?? { events: [], timers: [] };
      asked.set(team, known);
      return known;
    };
    for (const event of events) of(event.team).events.push(event);
    for (const timer of timers) of(timer.team).timers.push(timer);
    const facts = new Map<string, unknown>();
    for (const [team, its] of asked) facts.set(team, await this.factsOfTeam({ team, ...its }));
    return facts;
  }

  private factsOfTeam(asked: Asked<DomainEvent>): Promise<unknown> {
    return this.settings.database.asTeam(asked.team, (queries) => this.reactor.facts(queries, asked), { snapshot: true });
  }

  /** @throws ReadModelsBehind when they have not come so far in five seconds, as when one is stopped */
  private async readModelsPass(position: bigint): Promise<void> {
    const { readModels } = this.settings;
    const { reached } = await readModels.waitFor(position, readModelWaitMs, this.reactor.readModels, this.signal);
    if (!reached) throw new ReadModelsBehind();
  }

  /** With the changes of timers that the position stands for, in one transaction. @throws CheckpointMoved */
  private async writePosition(position: bigint, changes?: TimerChanges): Promise<void> {
    const { name } = this.reactor;
    await this.settings.database.as('mneme_system', async (queries) => {
      if (!(await advanceReactor(queries, name, this.written, position))) throw new CheckpointMoved();
      if (changes) await changeTimers(queries, name, changes);
    });
    this.written = { epoch: this.epoch, position };
    this.writtenAt = performance.now();
  }

  /** Nobody's fault, least of all of an event or a timer. */
  private isNoFault(error: unknown): boolean {
    return isPassing(error) || error instanceof Superseded || error instanceof CheckpointMoved || this.signal.aborted;
  }
}

/** The event of any kind of memory that takes its timers along. */
const isErasure = (type: string): boolean => type.endsWith('Erased');

const causeOf = ({ eventId, metadata }: RecordedEvent): Cause => ({
  eventId,
  correlationId: metadata.correlationId,
  depth: metadata.causationDepth,
});

function addTimers(changes: TimerChanges, team: string, cause: Cause, reactions: readonly Reaction[]): void {
  for (const reaction of reactions) if (reaction.do !== 'run') changes.add(team, cause, reaction);
}
