import pgvector from 'pgvector';
import type { Queries } from '../../src/database/database.js';
import type { ProcedureRow } from './procedures.projection.js';

export interface CandidateSearch {
  readonly team: string;
  readonly scope: string;
  /** undefined searches every intent. */
  readonly intent: string | undefined;
  readonly contract: string;
  readonly vector: readonly number[] | Float32Array;
  /** How many of the nearest to return. */
  readonly pool: number;
}

/** A candidate as stored; null counters stand for a version without a run, or without a parent. Of the past, counters are 0 instead. */
export interface CandidateRow extends Pick<
  ProcedureRow,
  | 'team_id'
  | 'procedure_id'
  | 'scope'
  | 'question'
  | 'intent'
  | 'graph'
  | 'version'
  | 'parent_id'
  | 'status'
  | 'profile_id'
  | 'remembered_at'
> {
  readonly similarity: number;
  readonly runs: number | null;
  readonly successes: number | null;
  readonly judged_runs: number | null;
  readonly judged_successes: number | null;
  readonly last_run_at: Date | null;
  readonly parent_runs: number | null;
  readonly parent_successes: number | null;
  readonly parent_judged_runs: number | null;
  readonly parent_judged_successes: number | null;
  readonly parent_last_run_at: Date | null;
}

/**
 * The nearest active versions of a scope with their counters and, where the parent still exists, their parent's.
 *
 * The nearest are found first and joined afterwards, so that counters are read for the pool alone. Similarity is cosine, 0
 * where the angle is obtuse.
 */
export function findCandidates(queries: Queries, search: CandidateSearch): Promise<CandidateRow[]> {
  return queries.query<CandidateRow>(
    `WITH nearest AS MATERIALIZED (
       SELECT v.procedure_id, v.embedding <=> $5::vector AS distance
       FROM mneme_read.procedure_vectors v
       WHERE v.team_id = $1 AND v.scope = $2 AND v.status = 'active' AND ($3::text IS NULL OR v.intent = $3)
         AND v.contract = $4 AND v.embedding IS NOT NULL
       ORDER BY distance, v.procedure_id
       LIMIT $6
     )
     SELECT p.team_id, p.procedure_id, p.scope, p.question, p.intent, p.graph, p.version, p.parent_id, p.status, p.profile_id, p.remembered_at,
            greatest(0, 1 - nearest.distance) AS similarity,
            c.runs, c.successes, c.judged_runs, c.judged_successes, c.last_run_at,
            pc.runs AS parent_runs, pc.successes AS parent_successes, pc.judged_runs AS parent_judged_runs,
            pc.judged_successes AS parent_judged_successes, pc.last_run_at AS parent_last_run_at
     FROM nearest
     JOIN mneme_read.procedures p ON p.team_id = $1 AND p.procedure_id = nearest.procedure_id
     LEFT JOIN mneme_read.judged_counters c ON c.team_id = $1 AND c.procedure_id = p.procedure_id
     LEFT JOIN mneme_read.procedures parent ON parent.team_id = $1 AND parent.procedure_id = p.parent_id
     LEFT JOIN mneme_read.judged_counters pc ON pc.team_id = $1 AND pc.procedure_id = parent.procedure_id
     ORDER BY nearest.distance, p.procedure_id`,
    [search.team, search.scope, search.intent ?? null, search.contract, pgvector.toSql([...search.vector]), search.pool],
  );
}

/** Position of the first event at or before `position` whose vector is still to be made; those that wait for a retry aside. */
export async function firstPendingVector(
  queries: Queries,
  { team, position }: { team: string; position: bigint },
): Promise<bigint | undefined> {
  const [row] = await queries.query<{ first: bigint | null }>(
    `SELECT min(position) AS first FROM mneme_read.procedure_vectors
     WHERE team_id = $1 AND position <= $2 AND embedding IS NULL AND retry_at IS NULL`,
    [team, position],
  );
  return row?.first ?? undefined;
}

export type ProcedureDetails = Omit<ProcedureRow, 'team_id'> & {
  readonly runs: number;
  readonly successes: number;
  readonly judged_runs: number;
  readonly judged_successes: number;
  readonly last_run_at: Date | null;
};

// The limit keeps the planner from joining the whole table of counters to a page of fifty: it does not know how many
// versions a scope has, since no statistics are kept of what people wrote.
const details = `
  SELECT p.procedure_id, p.scope, p.question, p.intent, p.graph, p.version, p.parent_id, p.status, p.profile_id, p.remembered_at,
         p.position, p.revision, coalesce(c.runs, 0) AS runs, coalesce(c.successes, 0) AS successes,
         coalesce(c.judged_runs, 0) AS judged_runs, coalesce(c.judged_successes, 0) AS judged_successes, c.last_run_at
  FROM mneme_read.procedures p
  LEFT JOIN LATERAL (
    SELECT runs, successes, judged_runs, judged_successes, last_run_at FROM mneme_read.judged_counters
    WHERE team_id = $1 AND procedure_id = p.procedure_id LIMIT 1) c ON true`;

export async function getProcedure(
  queries: Queries,
  { team, procedure }: { team: string; procedure: string },
): Promise<ProcedureDetails | undefined> {
  const [row] = await queries.query<ProcedureDetails>(`${details} WHERE p.team_id = $1 AND p.procedure_id = $2`, [
    team,
    procedure,
  ]);
  return row;
}

export interface ProcedureFilter {
  readonly team: string;
  readonly scope: string | undefined;
  readonly status: string | undefined;
  readonly intent: string | undefined;
  /** Only those remembered before this position: where the page before ended. */
  readonly before: bigint | undefined;
  readonly limit: number;
}

/** The latest first. */
export function listProcedures(
  queries: Queries,
  { team, scope, status, intent, before, limit }: ProcedureFilter,
): Promise<ProcedureDetails[]> {
  return queries.query<ProcedureDetails>(
    `${details}
     WHERE p.team_id = $1 AND ($2::text IS NULL OR p.scope = $2) AND ($3::text IS NULL OR p.status = $3)
       AND ($4::text IS NULL OR p.intent = $4) AND ($5::int8 IS NULL OR p.position < $5)
     ORDER BY p.position DESC
     LIMIT $6`,
    [team, scope ?? null, status ?? null, intent ?? null, before ?? null, limit],
  );
}
