/** Where a reactor stands, as operators see it. Never holds content. */
export interface ReactorStatus {
  readonly name: string;
  /** `stopped`: it met an event or a timer that it cannot handle, and is tried again by the next process that takes it over. */
  readonly state: 'caught_up' | 'catching_up' | 'stopped';
  /** Last position it has reacted to; -1 before the first. */
  readonly position: bigint;
  /** Last position of the log. */
  readonly head: bigint;
  /** `seconds` is the age of the oldest event not yet reacted to, 0 when there is none. */
  readonly lag: { readonly positions: bigint; readonly seconds: number };
  /** `overdueSeconds`: how long the oldest timer has been due, 0 when none is. */
  readonly timers: { readonly set: number; readonly overdueSeconds: number };
  readonly lastError: string | null;
}

/** What came of a command of a reactor. `refused`: by its decider. `dropped`: its chain of causes was too long. */
export type OrderOutcome = 'appended' | 'repeated' | 'unchanged' | 'refused' | 'dropped';

export interface ReactorObserver {
  ran(reactor: string, outcome: OrderOutcome): void;
}
