import type { StreamId } from '../event-log/stream-name.js';
import { ReactorDefect, type Reaction, type Timer } from './reactor.js';

/** The event that something follows from, at first or second hand. */
export interface Cause {
  readonly eventId: string;
  readonly correlationId: string;
  readonly depth: number;
}

/** A timer as it is stored. */
export interface StoredTimer extends Timer {
  readonly memory: string | null;
  readonly cause: Cause;
}

/** `unless_earlier` leaves a stored timer alone that is due earlier. */
export interface SetTimer extends StoredTimer {
  readonly mode: 'replace' | 'unless_earlier';
}

interface Place {
  readonly team: string;
  readonly key: string;
}

export type TimerReaction = Exclude<Reaction, { do: 'run' }>;

/** What becomes of the timers of one reactor, put together so that it is written in a few statements: removals, then timers set. */
export class TimerChanges {
  readonly teams = new Set<string>();
  private readonly gone = new Map<string, Place>();
  private readonly memories = new Map<string, { team: string; memory: string }>();
  private readonly timers = new Map<string, SetTimer>();

  /** In the order in which they came about. */
  add(team: string, cause: Cause, reaction: TimerReaction): void {
    switch (reaction.do) {
      case 'set_timer':
        return this.set({ team, cause, mode: reaction.unlessEarlier ? 'unless_earlier' : 'replace', ...timerOf(reaction) });
      case 'cancel_timer':
        return this.remove({ team, key: reaction.key });
      case 'cancel_timers':
        return this.removeTeam(team);
      default:
        return reaction satisfies never;
    }
  }

  /** Before what follows from it, and from those that were due with it: a timer that one of them sets for another stays. */
  fired({ team, key }: Timer): void {
    this.remove({ team, key });
  }

  /** Takes the timers of an erased memory, or of a whole team. */
  erase({ team, kind, id }: StreamId): void {
    if (kind === 'team') return this.removeTeam(team);
    this.memories.set(placeOf({ team, key: id }), { team, memory: id });
    for (const [place, timer] of this.timers) if (timer.team === team && timer.memory === id) this.timers.delete(place);
  }

  get empty(): boolean {
    return this.teams.size + this.gone.size + this.memories.size + this.timers.size === 0;
  }

  get toRemove(): readonly Place[] {
    return [...this.gone.values()];
  }

  get toErase(): readonly { readonly team: string; readonly memory: string }[] {
    return [...this.memories.values()];
  }

  get toSet(): readonly SetTimer[] {
    return [...this.timers.values()];
  }

  private set(timer: SetTimer): void {
    const place = placeOf(timer);
    const before = this.timers.get(place);
    const stands = timer.mode === 'unless_earlier' && before && before.dueAt <= timer.dueAt;
    if (stands) return;
    // What stood before this change was replaced or removed by it, so there is nothing earlier left to respect.
    const replaces = before?.mode === 'replace' || this.gone.has(place) || this.teams.has(timer.team);
    this.timers.set(place, replaces ? { ...timer, mode: 'replace' } : timer);
  }

  private remove(place: Place): void {
    this.gone.set(placeOf(place), place);
    this.timers.delete(placeOf(place));
  }

  private removeTeam(team: string): void {
    this.teams.add(team);
    for (const [place, timer] of this.timers) if (timer.team === team) this.timers.delete(place);
  }
}

const placeOf = ({ team, key }: Place): string => `${team} ${key}`;

const timerOf = ({ key, dueAt, memory }: Extract<TimerReaction, { do: 'set_timer' }>) => ({ key, dueAt, memory });

/** @throws ReactorDefect for a timer that is set again for a moment that is not later: it would be due for ever */
export function checkSetAgain(timer: Timer, reactions: readonly Reaction[]): void {
  for (const reaction of reactions) {
    if (reaction.do === 'set_timer' && reaction.key === timer.key && reaction.dueAt <= timer.dueAt)
      throw new ReactorDefect(`a timer due ${timer.dueAt.toISOString()} is set again for ${reaction.dueAt.toISOString()}`);
  }
}
