import type { Queries } from '../../src/database/database.js';

type Reading = Pick<Queries, 'query'>;

/** When the oldest run happened whose verdict is not pruned. */
export interface OldestRun {
  readonly procedure: string;
  readonly ranAt: Date;
}

/** Of these procedures, each looked at from a moment on; undefined from the first run. Procedures without such a run are left out. */
export async function oldestUnprunedRuns(
  queries: Reading,
  team: string,
  wanted: readonly { readonly procedure: string; readonly since: Date | undefined }[],
): Promise<OldestRun[]> {
  if (wanted.length === 0) return [];
  const rows = await queries.query<{ procedure: string; ranAt: Date | null }>(
    `SELECT wanted.procedure_id AS procedure,
            (SELECT e.ran_at FROM mneme_read.executions e
             WHERE e.team_id = $1 AND e.procedure_id = wanted.procedure_id AND e.ran_at >= coalesce(wanted.since, '-infinity')
               AND NOT e.pruned
             ORDER BY e.ran_at LIMIT 1) AS "ranAt"
     FROM unnest($2::uuid[], $3::timestamptz[]) AS wanted (procedure_id, since)`,
    [team, wanted.map(({ procedure }) => procedure), wanted.map(({ since }) => since ?? null)],
  );
  return rows.flatMap(({ procedure, ranAt }) => (ranAt ? [{ procedure, ranAt }] : []));
}

/** Of all procedures of a team: one reading of its runs, for when a setting changes. */
export const allOldestUnprunedRuns = (queries: Reading, team: string): Promise<OldestRun[]> =>
  queries.query<OldestRun>(
    `SELECT procedure_id AS procedure, min(ran_at) AS "ranAt" FROM mneme_read.executions
     WHERE team_id = $1 AND NOT pruned GROUP BY procedure_id ORDER BY procedure_id`,
    [team],
  );

/** Those of the named procedures that were erased. */
export async function erasedAmong(queries: Reading, team: string, procedures: readonly string[]): Promise<string[]> {
  if (procedures.length === 0) return [];
  const rows = await queries.query<{ procedure: string }>(
    `SELECT procedure_id AS procedure FROM mneme_read.erased_procedures WHERE team_id = $1 AND procedure_id = ANY($2::uuid[])`,
    [team, procedures],
  );
  return rows.map(({ procedure }) => procedure);
}
