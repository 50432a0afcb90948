import pgvector from 'pgvector';
import type { Queries } from '../../src/database/database.js';
import type { CandidateRow, CandidateSearch, ProcedureDetails, ProcedureFilter } from './procedure-queries.js';

/**
 * The queries of procedure-queries.ts as the log stood at a position. They alone read the history tables: what is asked all
 * the time is not to pay for what is asked now and then.
 *
 * An erased procedure has no rows of any time, so it is absent at every position.
 */

/** SQL: status of the procedure `alias` at the position `at`; null when it was not there. */
const statusThen = (alias: string, at: string) => `(
  SELECT h.status FROM mneme_read.procedures_history h
  WHERE h.team_id = $1 AND h.procedure_id = ${alias}.procedure_id AND h.position <= ${at}
  ORDER BY h.position DESC LIMIT 1)`;

/**
 * SQL: counters of the procedure `alias` at the position `at`, summed from what was known of each of its runs then: a
 * person's verdict, else the evaluator's, else the agent's, and none of the first two once the run was pruned.
 */
const countersThen = (alias: string, at: string) => `(
  SELECT count(*)::int AS runs, (count(*) FILTER (WHERE run.success))::int AS successes,
         (count(*) FILTER (WHERE run.judged))::int AS judged_runs,
         (count(*) FILTER (WHERE run.judged AND run.success))::int AS judged_successes, max(run.ran_at) AS last_run_at
  FROM (
    SELECT DISTINCT ON (h.execution_id) h.ran_at, coalesce(h.feedback_worked, h.evaluator_success, h.agent_success) AS success,
           NOT h.pruned AND coalesce(h.feedback_worked, h.evaluator_success) IS NOT NULL AS judged
    FROM mneme_read.executions_history h
    WHERE h.team_id = $1 AND h.procedure_id = ${alias}.procedure_id AND h.position <= ${at}
    ORDER BY h.execution_id, h.position DESC
  ) run)`;

/** Those that were active at the position with the counters they had, nearest by the vectors of today: questions do not change. */
export function findCandidatesAsOf(queries: Queries, search: CandidateSearch, position: bigint): Promise<CandidateRow[]> {
  return queries.query<CandidateRow>(
    `WITH nearest AS MATERIALIZED (
       SELECT v.procedure_id, v.embedding <=> $5::vector AS distance
       FROM mneme_read.procedure_vectors v
       WHERE v.team_id = $1 AND v.scope = $2 AND ($3::text IS NULL OR v.intent = $3) AND v.position <= $7
         AND v.contract = $4 AND v.embedding IS NOT NULL AND ${statusThen('v', '$7')} = 'active'
       ORDER BY distance, v.procedure_id
       LIMIT $6
     )
     SELECT p.team_id, p.procedure_id, p.scope, p.question, p.intent, p.graph, p.version, p.parent_id, 'active' AS status, p.profile_id,
            p.remembered_at, greatest(0, 1 - nearest.distance) AS similarity,
            c.runs, c.successes, c.judged_runs, c.judged_successes, c.last_run_at,
            pc.runs AS parent_runs, pc.successes AS parent_successes, pc.judged_runs AS parent_judged_runs,
            pc.judged_successes AS parent_judged_successes, pc.last_run_at AS parent_last_run_at
     FROM nearest
     JOIN mneme_read.procedures p ON p.team_id = $1 AND p.procedure_id = nearest.procedure_id
     LEFT JOIN mneme_read.procedures parent ON parent.team_id = $1 AND parent.procedure_id = p.parent_id AND parent.position <= $7
     CROSS JOIN LATERAL ${countersThen('p', '$7')} c
     CROSS JOIN LATERAL ${countersThen('parent', '$7')} pc
     ORDER BY nearest.distance, p.procedure_id`,
    [
      search.team,
      search.scope,
      search.intent ?? null,
      search.contract,
      pgvector.toSql([...search.vector]),
      search.pool,
      position,
    ],
  );
}

const details = (at: string) => `
  SELECT p.procedure_id, p.scope, p.question, p.intent, p.graph, p.version, p.parent_id, past.status, p.profile_id, p.remembered_at,
         p.position, past.revision, c.runs, c.successes, c.judged_runs, c.judged_successes, c.last_run_at
  FROM mneme_read.procedures p
  CROSS JOIN LATERAL (
    SELECT h.status, h.revision FROM mneme_read.procedures_history h
    WHERE h.team_id = $1 AND h.procedure_id = p.procedure_id AND h.position <= ${at}
    ORDER BY h.position DESC LIMIT 1) past
  CROSS JOIN LATERAL ${countersThen('p', at)} c`;

export async function getProcedureAsOf(
  queries: Queries,
  { team, procedure }: { team: string; procedure: string },
  position: bigint,
): Promise<ProcedureDetails | undefined> {
  const [row] = await queries.query<ProcedureDetails>(`${details('$3')} WHERE p.team_id = $1 AND p.procedure_id = $2`, [
    team,
    procedure,
    position,
  ]);
  return row;
}

/** The latest first. */
export function listProceduresAsOf(
  queries: Queries,
  { team, scope, status, intent, before, limit }: ProcedureFilter,
  position: bigint,
): Promise<ProcedureDetails[]> {
  return queries.query<ProcedureDetails>(
    `${details('$7')}
     WHERE p.team_id = $1 AND ($2::text IS NULL OR p.scope = $2) AND ($3::text IS NULL OR past.status = $3)
       AND ($4::text IS NULL OR p.intent = $4) AND p.position <= $7 AND ($5::int8 IS NULL OR p.position < $5)
     ORDER BY p.position DESC
     LIMIT $6`,
    [team, scope ?? null, status ?? null, intent ?? null, before ?? null, limit, position],
  );
}
