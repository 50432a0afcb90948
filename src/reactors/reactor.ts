import type { Queries } from '../database/database.js';
import type { DomainEvent, RecordedEvent } from '../event-log/domain-event.js';
import type { Decision } from '../event-log/execute.js';
import type { StreamId } from '../event-log/stream-name.js';

/** A moment at which a reactor wants to look at something again. Ids and times only: it is stored outside the sealed boxes. */
export interface Timer {
  readonly team: string;
  /** The reactor's own name for what it concerns, at most 200 characters; there is one timer a key. */
  readonly key: string;
  readonly dueAt: Date;
}

/** What follows from an event, or from a timer that is due; in the team of that event or timer. */
export type Reaction<Order = unknown> =
  /** A command on one stream. At most one a stream follows from one cause, since its id derives from the cause. */
  | { readonly do: 'run'; readonly stream: StreamId; readonly order: Order }
  /** Sets the timer with this key, in place of the one that stands. */
  | {
      readonly do: 'set_timer';
      readonly key: string;
      readonly dueAt: Date;
      /** Id of the memory it concerns, with which it is erased. */
      readonly memory: string;
      /** Leaves a timer alone that is due earlier. */
      readonly unlessEarlier?: true;
    }
  | { readonly do: 'cancel_timer'; readonly key: string }
  /** All of this reactor's timers in the team. */
  | { readonly do: 'cancel_timers' };

/** What a reactor is about to react to: all of one team. */
export interface Asked<Event extends DomainEvent> {
  readonly team: string;
  readonly events: readonly RecordedEvent<Event>[];
  readonly timers: readonly Timer[];
}

/**
 * A process manager: reads the log that everybody reads, and answers with commands and timers. The runner owns reading,
 * appending, checkpoints, timers and failures.
 *
 * An event may come more than once, and facts may be newer than the event, never older; whatever follows has to be right
 * all the same. Commands are safe by themselves: a second copy finds the events of the first.
 */
export interface Reactor<Event extends DomainEvent = DomainEvent, Facts = unknown, Order = unknown> {
  /** Lower-case snake case; part of the ids of what it appends, so it never changes. */
  readonly name: string;
  /** Of streams that belong to a team. */
  readonly eventTypes: readonly Event['type'][];
  /** Whether it reads sealed content; if not, boxes stay shut and no keys are fetched. */
  readonly needsContent: boolean;
  /** Projections that its facts come from. They have passed the event before it is reacted to, and, for timers, all that was stored. */
  readonly readModels: readonly string[];
  /** Reads under one snapshot, as the team, what `react` and `due` need to know. Asked once for many events. */
  facts(queries: Pick<Queries, 'query'>, asked: Asked<Event>): Promise<Facts>;
  react(event: RecordedEvent<Event>, facts: Facts): readonly Reaction<Order>[];
  /** The timer is gone afterwards, unless it is set again, for a later moment. */
  due(timer: Timer, facts: Facts, now: Date): readonly Reaction<Order>[];
  /** The decider of the stream that the order goes to. A refusal ends the matter: the world has moved on. */
  decide(order: Order, events: RecordedEvent[]): Decision<DomainEvent>;
}

/** Erases a reactor's own types, so that reactors of different slices fit in one list. */
export const reactor = <Event extends DomainEvent, Facts, Order>(definition: Reactor<Event, Facts, Order>): Reactor => definition;

/** A reactor breaks the runner's rules. The message is made of names and times only, so it may be stored and shown. */
export class ReactorDefect extends Error {
  readonly code = 'reactor_defect';
}
