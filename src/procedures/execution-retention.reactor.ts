import { settingsOfTeam } from '../../projections/access/access.queries.js';
import {
  allOldestUnprunedRuns,
  erasedAmong,
  type OldestRun,
  oldestUnprunedRuns,
} from '../../projections/judged-counters/retention-queries.js';
import type { Queries } from '../database/database.js';
import type { RecordedEvent } from '../event-log/domain-event.js';
import { type Asked, reactor } from '../reactors/reactor.js';
import {
  expiredBefore,
  type Prune,
  reactToRetention,
  retentionDue,
  type RetentionEvent,
  type RetentionFacts,
} from './execution-retention.js';
import { decideProcedure, type ProcedureEvent, procedureOf } from './procedure.js';

/** Prunes the runs of teams that keep verdicts for a number of days only. */
export const executionRetention = reactor<RetentionEvent, RetentionFacts, Prune>({
  name: 'execution_retention',
  eventTypes: ['ExecutionRecorded', 'ProcedureRemembered', 'TeamSettingsChanged'],
  needsContent: false,
  readModels: ['access', 'judged_counters'],
  facts: retentionFacts,
  react: reactToRetention,
  due: retentionDue,
  decide: (order, events) => decideProcedure(order, procedureOf(events as RecordedEvent<ProcedureEvent>[])),
});

type Reading = Pick<Queries, 'query'>;

const nothing: RetentionFacts = { days: null, oldest: new Map(), oldestLeft: new Map(), erased: new Set() };

/** A team that keeps verdicts for ever, as nearly all do, costs one look-up a batch. */
async function retentionFacts(queries: Reading, { team, events, timers }: Asked<RetentionEvent>): Promise<RetentionFacts> {
  const days = (await settingsOfTeam(queries, team))?.execution_retention_days ?? null;
  if (days === null) return nothing;
  const named = (type: 'ExecutionRecorded' | 'ProcedureRemembered') =>
    events.flatMap(({ data }) => (data.type === type ? [data.procedure_id] : []));
  const whole = events.some(({ data }) => data.type === 'TeamSettingsChanged');
  const some = [...named('ProcedureRemembered'), ...timers.map(({ key }) => key)].map((procedure) => ({
    procedure,
    since: undefined,
  }));
  const left = timers.map(({ key, dueAt }) => ({ procedure: key, since: expiredBefore(dueAt, days) }));
  return {
    days,
    oldest: byProcedure(await (whole ? allOldestUnprunedRuns(queries, team) : oldestUnprunedRuns(queries, team, some))),
    oldestLeft: byProcedure(await oldestUnprunedRuns(queries, team, left)),
    erased: new Set(await erasedAmong(queries, team, named('ExecutionRecorded'))),
  };
}

const byProcedure = (runs: readonly OldestRun[]): ReadonlyMap<string, Date> =>
  new Map(runs.map(({ procedure, ranAt }) => [procedure, ranAt]));
