import type { Queries } from '../../src/database/database.js';
import type { ExecutionRow } from './judged-counters.projection.js';

/** A run, as long as its procedure is there: before, and after its erasure, the run is unknown. */
export async function getExecution(
  queries: Queries,
  { team, execution }: { team: string; execution: string },
): Promise<Omit<ExecutionRow, 'team_id'> | undefined> {
  const [row] = await queries.query<Omit<ExecutionRow, 'team_id'>>(
    `SELECT e.execution_id, e.procedure_id, e.agent_success, e.evaluator_success, e.feedback_worked, e.correctness, e.completeness,
            e.usefulness, e.profile_id, e.ran_at, e.recorded_at, e.pruned, e.position, e.revision
     FROM mneme_read.executions e
     JOIN mneme_read.procedures p ON p.team_id = e.team_id AND p.procedure_id = e.procedure_id
     WHERE e.team_id = $1 AND e.execution_id = $2`,
    [team, execution],
  );
  return row;
}
