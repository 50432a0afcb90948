import type { Queries } from '../database/database.js';
import { isUuid } from '../uuid.js';
import type { SetTimer, StoredTimer, TimerChanges } from './timer-changes.js';

interface TimerRow {
  readonly team: string;
  readonly key: string;
  readonly memory: string | null;
  readonly dueAt: Date;
  readonly eventId: string;
  readonly correlationId: string;
  readonly depth: number;
}

/** A reactor's timers of all teams, the earliest first. */
export async function earliestTimers(queries: Queries, reactor: string, limit: number): Promise<StoredTimer[]> {
  const rows = await queries.query<TimerRow>(
    `SELECT team_id AS team, key, memory_id AS memory, due_at AS "dueAt", cause_id AS "eventId", correlation_id AS "correlationId",
            causation_depth AS depth
     FROM mneme.due_timers WHERE reactor = $1 ORDER BY due_at, team_id, key LIMIT $2`,
    [reactor, limit],
  );
  return rows.map(({ team, key, memory, dueAt, ...cause }) => ({ team, key, memory, dueAt, cause }));
}

export interface TimerCount {
  readonly reactor: string;
  readonly set: bigint;
  readonly earliest: Date;
}

export const countTimers = (queries: Queries): Promise<TimerCount[]> =>
  queries.query<TimerCount>(
    `SELECT reactor, count(*) AS set, min(due_at) AS earliest FROM mneme.due_timers GROUP BY reactor ORDER BY reactor`,
  );

/** For the transaction that moves the reactor's checkpoint, so that two owners never write at once. */
export async function changeTimers(queries: Queries, reactor: string, changes: TimerChanges): Promise<void> {
  const teams = [...changes.teams];
  const { toRemove, toErase, toSet } = changes;
  if (teams.length > 0)
    await queries.execute('DELETE FROM mneme.due_timers WHERE reactor = $1 AND team_id = ANY($2::uuid[])', [reactor, teams]);
  if (toRemove.length > 0)
    await queries.execute(
      `DELETE FROM mneme.due_timers t USING unnest($2::uuid[], $3::text[]) AS gone (team_id, key)
       WHERE t.reactor = $1 AND t.team_id = gone.team_id AND t.key = gone.key`,
      [reactor, toRemove.map(({ team }) => team), toRemove.map(({ key }) => key)],
    );
  const memories = toErase.filter(({ memory }) => isUuid(memory));
  if (memories.length > 0)
    await queries.execute(
      `DELETE FROM mneme.due_timers t USING unnest($2::uuid[], $3::uuid[]) AS gone (team_id, memory_id)
       WHERE t.reactor = $1 AND t.team_id = gone.team_id AND t.memory_id = gone.memory_id`,
      [reactor, memories.map(({ team }) => team), memories.map(({ memory }) => memory)],
    );
  for (const mode of ['replace', 'unless_earlier'] as const)
    await setTimers(
      queries,
      reactor,
      mode,
      toSet.filter((timer) => timer.mode === mode),
    );
}

/** A timer that stands for the same moment keeps its cause: nothing changed. */
async function setTimers(queries: Queries, reactor: string, mode: SetTimer['mode'], timers: readonly SetTimer[]): Promise<void> {
  if (timers.length === 0) return;
  await queries.execute(
    `INSERT INTO mneme.due_timers AS t (reactor, team_id, key, memory_id, due_at, cause_id, correlation_id, causation_depth)
     SELECT $1, v.* FROM unnest($2::uuid[], $3::text[], $4::uuid[], $5::timestamptz[], $6::uuid[], $7::text[], $8::int[]) AS v
     ON CONFLICT (team_id, reactor, key) DO UPDATE SET memory_id = excluded.memory_id, due_at = excluded.due_at,
       cause_id = excluded.cause_id, correlation_id = excluded.correlation_id, causation_depth = excluded.causation_depth
     WHERE ${mode === 'replace' ? 'excluded.due_at <> t.due_at' : 'excluded.due_at < t.due_at'}`,
    [
      reactor,
      timers.map(({ team }) => team),
      timers.map(({ key }) => key),
      timers.map(({ memory }) => memory),
      timers.map(({ dueAt }) => dueAt),
      timers.map(({ cause }) => cause.eventId),
      timers.map(({ cause }) => cause.correlationId),
      timers.map(({ cause }) => cause.depth),
    ],
  );
}
