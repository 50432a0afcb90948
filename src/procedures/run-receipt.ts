import type { RecordedEvent } from '../event-log/domain-event.js';
import { type ExecutionEvent, executionOf, verdictOf } from './execution.js';

/** What a caller learns of the run it recorded: the verdict that counted when it was stored. */
export interface RunReceipt {
  readonly execution_id: string;
  readonly procedure_id: string;
  /** Never `feedback`, which comes later. */
  readonly source: 'evaluator' | 'agent';
  readonly success: boolean;
}

/** The receipt of a stored run; the same whether the run was recorded just now or by an earlier copy of the command. */
export function runReceipt(recorded: Extract<ExecutionEvent, { type: 'ExecutionRecorded' }>): RunReceipt {
  const { execution_id, procedure_id, evaluator_success, agent_success } = recorded;
  const source = evaluator_success === null ? 'agent' : 'evaluator';
  return { execution_id, procedure_id, source, success: evaluator_success ?? agent_success };
}

/** The run that an execution's stream begins with; undefined for an empty stream. */
export const runOf = (events: readonly RecordedEvent<ExecutionEvent>[]) =>
  events.map(({ data }) => data).find((data) => data.type === 'ExecutionRecorded');

/** The verdict on a run after the events of its stream. */
export function verdictAfter(events: readonly { data: ExecutionEvent }[]) {
  const execution = executionOf(events);
  return execution.status === 'none' ? undefined : verdictOf(execution);
}
