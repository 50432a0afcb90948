import type { DomainEvent, RecordedEvent, Sealed } from '../event-log/domain-event.js';
import type { EventDefinitions } from '../event-log/event-catalogue.js';
import type { Refusal } from '../event-log/execute.js';
import type { Procedure, ProcedureEvent } from './procedure.js';

/** One run of a procedure, with the verdicts on it. It stays invisible until its procedure exists. */
export const executionStream = (team: string, execution: string) => ({ kind: 'execution', team, id: execution }) as const;

/** Three optional scores a person may give, each 0 to 1. They are kept, and ranking does not use them. */
export interface FeedbackScores {
  readonly correctness?: number;
  readonly completeness?: number;
  readonly usefulness?: number;
}

export type ExecutionEvent = DomainEvent &
  (
    | {
        readonly type: 'ExecutionRecorded';
        readonly execution_id: string;
        readonly procedure_id: string;
        /** The agent's own word. */
        readonly agent_success: boolean;
        /** The evaluator's, when one judged the answer. */
        readonly evaluator_success: boolean | null;
        readonly sealed?: Sealed<{ answer: string }>;
      }
    | {
        readonly type: 'ExecutionFeedbackRecorded';
        readonly execution_id: string;
        readonly procedure_id: string;
        /** null keeps the verdict as it was. */
        readonly worked: boolean | null;
        readonly scores: FeedbackScores;
      }
  );

export const executionEvents: EventDefinitions<ExecutionEvent> = {
  ExecutionRecorded: { version: 1, keyOwner: ({ procedure_id }) => procedure_id },
  ExecutionFeedbackRecorded: { version: 1 },
};

export type Execution = { readonly status: 'none' } | RecordedExecution;

export interface RecordedExecution extends Verdicts {
  readonly status: 'recorded';
  readonly execution_id: string;
  readonly procedure_id: string;
  readonly scores: FeedbackScores;
}

/** Who said what about a run; null where nobody did. */
export interface Verdicts {
  readonly agent_success: boolean;
  readonly evaluator_success: boolean | null;
  readonly feedback_worked: boolean | null;
}

export const noExecution: Execution = { status: 'none' };

export function evolveExecution(execution: Execution, event: ExecutionEvent): Execution {
  switch (event.type) {
    case 'ExecutionRecorded': {
      const { execution_id, procedure_id, agent_success, evaluator_success } = event;
      return {
        status: 'recorded',
        execution_id,
        procedure_id,
        agent_success,
        evaluator_success,
        feedback_worked: null,
        scores: {},
      };
    }
    case 'ExecutionFeedbackRecorded':
      if (execution.status === 'none') return execution;
      return {
        ...execution,
        feedback_worked: event.worked ?? execution.feedback_worked,
        scores: { ...execution.scores, ...event.scores },
      };
    default:
      return event satisfies never;
  }
}

export const executionOf = (events: readonly { data: ExecutionEvent }[]): Execution =>
  events.reduce<Execution>((execution, { data }) => evolveExecution(execution, data), noExecution);

export interface Verdict {
  readonly source: 'feedback' | 'evaluator' | 'agent';
  readonly success: boolean;
  /** Whether a person or an evaluator gave it; the agent's own word is the weakest evidence. */
  readonly judged: boolean;
}

/** The verdict that counts: a person's, else the evaluator's, else the agent's. */
export function verdictOf({ agent_success, evaluator_success, feedback_worked }: Verdicts): Verdict {
  if (feedback_worked !== null) return { source: 'feedback', success: feedback_worked, judged: true };
  if (evaluator_success !== null) return { source: 'evaluator', success: evaluator_success, judged: true };
  return { source: 'agent', success: agent_success, judged: false };
}

export interface RecordRun extends Omit<Verdicts, 'feedback_worked'> {
  readonly type: 'RecordRun';
  readonly execution_id: string;
  readonly procedure_id: string;
  /** Left out where no answer is kept. */
  readonly sealed?: { readonly answer: string };
}

/** A run's stream begins with the run, and holds it once. */
export function decideRun(command: RecordRun, execution: Execution): readonly ExecutionEvent[] {
  return execution.status === 'none' ? [{ ...command, type: 'ExecutionRecorded' }] : [];
}

export interface RecordFeedback {
  readonly type: 'RecordFeedback';
  readonly worked: boolean | null;
  readonly scores: FeedbackScores;
  /** Status of the procedure that ran: of one that was never completed, nothing is known anywhere. */
  readonly procedure: Procedure['status'];
  /** Whether the run's verdicts were pruned, see `isPruned`. */
  readonly pruned: boolean;
}

export function decideFeedback(command: RecordFeedback, execution: Execution): readonly ExecutionEvent[] | Refusal {
  if (execution.status === 'none' || command.procedure === 'none') return { refused: 'not_found' };
  if (command.procedure === 'erased') return { refused: 'erased' };
  if (command.pruned) return { refused: 'execution_pruned' };
  const { execution_id, procedure_id } = execution;
  return [{ type: 'ExecutionFeedbackRecorded', execution_id, procedure_id, worked: command.worked, scores: command.scores }];
}

/** When a run happened: as said, else when the log learned of it. */
export const ranAt = (recorded: RecordedEvent<ExecutionEvent>): Date => recorded.metadata.occurredAt ?? recorded.recordedAt;

/** A run is pruned by a later event that names a time after it. A run recorded after the pruning stays, however old it is. */
export function isPruned(recorded: RecordedEvent<ExecutionEvent>, procedure: readonly RecordedEvent<ProcedureEvent>[]): boolean {
  return procedure.some(
    ({ data, position }) =>
      data.type === 'ExecutionsPruned' && position > recorded.position && ranAt(recorded) < new Date(data.before),
  );
}
