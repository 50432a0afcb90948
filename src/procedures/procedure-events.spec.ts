import { eventCatalogue } from '../all-events.js';
import { expectGolden } from '../../test/support/golden.js';
import { type ExecutionEvent, executionStream } from './execution.js';
import { type ProcedureEvent, procedureStream } from './procedure.js';

const team = '6f1c3f4e-3f2d-4f0e-9c0b-1d2a3b4c5d6e';
const procedure_id = 'a1b2c3d4-0000-4000-8000-00000000abcd';
const execution_id = 'e1e2e3e4-0000-4000-8000-00000000abcd';

const procedureEventsOfOld: ProcedureEvent[] = [
  {
    type: 'ProcedureRemembered',
    procedure_id,
    parent_id: 'b1b2b3b4-0000-4000-8000-00000000abcd',
    status: 'pending_review',
    based_on: [`mneme_procedure-${team}_b1b2b3b4-0000-4000-8000-00000000abcd@0`],
    sealed: {
      scope: 'shop',
      question: 'How do I refund an order?',
      intent: 'refund',
      graph: { steps: ['find', 'refund'] },
      version: '1.1',
    },
  },
  { type: 'ProcedureApproved', procedure_id, sealed: { reason: 'works' } },
  { type: 'ProcedureRejected', procedure_id, sealed: { reason: 'wrong account' } },
  { type: 'ProcedureArchived', procedure_id, sealed: { reason: 'replaced' } },
  { type: 'ProcedureRestored', procedure_id, sealed: { reason: 'needed again' } },
  { type: 'ExecutionsPruned', procedure_id, before: '2026-01-01T00:00:00.000Z' },
  { type: 'ProcedureErased', procedure_id },
];

const executionEventsOfOld: ExecutionEvent[] = [
  {
    type: 'ExecutionRecorded',
    execution_id,
    procedure_id,
    agent_success: true,
    evaluator_success: false,
    sealed: { answer: 'refunded' },
  },
  {
    type: 'ExecutionFeedbackRecorded',
    execution_id,
    procedure_id,
    worked: null,
    scores: { correctness: 0.5, completeness: 1, usefulness: 0 },
  },
];

describe('events stored earlier', () => {
  it.each(procedureEventsOfOld.map((event) => [event.type, event] as const))('%s is still read as it was written', (_, event) =>
    expectGolden(eventCatalogue, { event, stream: procedureStream(team, procedure_id) }),
  );
  it.each(executionEventsOfOld.map((event) => [event.type, event] as const))('%s is still read as it was written', (_, event) =>
    expectGolden(eventCatalogue, { event, stream: executionStream(team, execution_id) }),
  );
});
