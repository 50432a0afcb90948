import type { RecordedEvent } from '../event-log/domain-event.js';
import type { Reaction, Timer } from '../reactors/reactor.js';
import { type ExecutionEvent, ranAt } from './execution.js';
import { procedureStream, type ProcedureCommand, type ProcedureEvent } from './procedure.js';

/**
 * When the verdicts on runs go, in a team that keeps them for a number of days. A timer per procedure stands for its oldest
 * run that is not pruned. Time goes in whole hours (UTC), so that a busy procedure is pruned once an hour and not once a run:
 * a run loses its verdict at the first full hour at which its own hour lies further back than the retention, up to an hour
 * late and never early.
 */
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

const hourOf = (moment: Date): number => Math.floor(moment.getTime() / hourMs) * hourMs;

/** The first full hour at which every run of the hour in which this one happened is older than the retention. */
export const expiryOf = (ran: Date, days: number): Date => new Date(hourOf(ran) + hourMs + days * dayMs);

/** What expires at a full hour happened before this one. */
export const expiredBefore = (hour: Date, days: number): Date => new Date(hour.getTime() - days * dayMs);

/** As far as this reactor needs to know it; settings are another slice's. */
interface SettingsChanged {
  readonly type: 'TeamSettingsChanged';
  readonly settings: { readonly execution_retention_days?: number | null };
}

export type RetentionEvent =
  | Extract<ExecutionEvent, { type: 'ExecutionRecorded' }>
  | Extract<ProcedureEvent, { type: 'ProcedureRemembered' }>
  | SettingsChanged;

export type Prune = Extract<ProcedureCommand, { type: 'Prune' }>;

export interface RetentionFacts {
  /** The team's setting now; null keeps verdicts for ever. */
  readonly days: number | null;
  /** By procedure: when its oldest run happened that is not pruned. */
  readonly oldest: ReadonlyMap<string, Date>;
  /** By procedure: the same, of the runs that a timer which is due now would leave. */
  readonly oldestLeft: ReadonlyMap<string, Date>;
  readonly erased: ReadonlySet<string>;
}

export function reactToRetention(event: RecordedEvent<RetentionEvent>, facts: RetentionFacts): readonly Reaction<Prune>[] {
  const { data } = event;
  const { days } = facts;
  switch (data.type) {
    case 'ExecutionRecorded': {
      const { procedure_id } = data;
      if (days === null || facts.erased.has(procedure_id)) return [];
      // Older runs have their timer already, and it comes first.
      return [{ ...timerOf(procedure_id, expiryOf(ranAt(event as RecordedEvent<ExecutionEvent>), days)), unlessEarlier: true }];
    }
    case 'ProcedureRemembered': {
      // Its first run stands before it in the log; if that run expired meanwhile, there was no procedure to prune.
      const oldest = facts.oldest.get(data.procedure_id);
      if (days === null || !oldest) return [];
      return [{ ...timerOf(data.procedure_id, expiryOf(oldest, days)), unlessEarlier: true }];
    }
    case 'TeamSettingsChanged':
      if (data.settings.execution_retention_days === undefined) return [];
      if (days === null) return [{ do: 'cancel_timers' }];
      return [...facts.oldest].map(([procedure, oldest]) => timerOf(procedure, expiryOf(oldest, days)));
    default:
      return data satisfies never;
  }
}

export function retentionDue(timer: Timer, facts: RetentionFacts, now: Date): readonly Reaction<Prune>[] {
  const { days } = facts;
  const procedure_id = timer.key;
  const oldest = facts.oldest.get(procedure_id);
  if (days === null || !oldest) return [];
  const expiry = expiryOf(oldest, days);
  // It was pruned by hand, or the retention has grown.
  if (expiry > now) return [timerOf(procedure_id, expiry)];
  // Nobody looked for hours: one event for all that expired meanwhile. The timer says until when, so that a repetition does too.
  const hour = new Date(hourOf(now));
  if (timer.dueAt < hour) return [timerOf(procedure_id, hour)];
  const left = facts.oldestLeft.get(procedure_id);
  return [
    {
      do: 'run',
      stream: procedureStream(timer.team, procedure_id),
      order: { type: 'Prune', procedure_id, before: expiredBefore(timer.dueAt, days) },
    },
    ...(left ? [timerOf(procedure_id, expiryOf(left, days))] : []),
  ];
}

const timerOf = (procedure: string, dueAt: Date) => ({ do: 'set_timer', key: procedure, memory: procedure, dueAt }) as const;
