import { given } from '../../test/support/given.js';
import {
  decideFeedback,
  decideRun,
  evolveExecution,
  type ExecutionEvent,
  executionOf,
  noExecution,
  type RecordFeedback,
  verdictOf,
} from './execution.js';

const ids = { execution_id: 'e-1', procedure_id: 'p-1' };
const recorded = (agent_success: boolean, evaluator_success: boolean | null = null): ExecutionEvent => ({
  type: 'ExecutionRecorded',
  ...ids,
  agent_success,
  evaluator_success,
});
const feedback = (worked: boolean | null, scores = {}): ExecutionEvent => ({
  type: 'ExecutionFeedbackRecorded',
  ...ids,
  worked,
  scores,
});
const give = (worked: boolean | null, more: Partial<RecordFeedback> = {}): RecordFeedback => ({
  type: 'RecordFeedback',
  worked,
  scores: {},
  procedure: 'active',
  pruned: false,
  ...more,
});
const verdictAfter = (...events: ExecutionEvent[]) => {
  const run = executionOf(events.map((data) => ({ data })));
  if (run.status === 'none') throw new Error('not recorded');
  return verdictOf(run);
};

const execution = given({ decide: decideFeedback, evolve: evolveExecution, initial: noExecution });

describe('a run', () => {
  const run = given({ decide: decideRun, evolve: evolveExecution, initial: noExecution });
  const command = {
    type: 'RecordRun',
    ...ids,
    agent_success: true,
    evaluator_success: null,
    sealed: { answer: 'done' },
  } as const;

  it('is recorded with both verdicts and its answer', () =>
    run([])
      .when(command)
      .then([{ ...recorded(true), sealed: { answer: 'done' } }]));
  it('is recorded once', () =>
    run([recorded(true)])
      .when(command)
      .then([]));
});

describe('feedback on a run', () => {
  it('is recorded', () =>
    execution([recorded(true)])
      .when(give(false, { scores: { correctness: 0 } }))
      .then([feedback(false, { correctness: 0 })]));
  it('may come again', () =>
    execution([recorded(true), feedback(true)])
      .when(give(true))
      .then([feedback(true)]));
  it('needs a run', () => execution([]).when(give(true)).thenRefuses('not_found'));
  it('needs a procedure that was completed', () =>
    execution([recorded(true)])
      .when(give(true, { procedure: 'none' }))
      .thenRefuses('not_found'));
  it('is refused as gone when the procedure was erased', () =>
    execution([recorded(true)])
      .when(give(true, { procedure: 'erased' }))
      .thenRefuses('erased'));
  it('comes too late when the run was pruned', () =>
    execution([recorded(true)])
      .when(give(true, { pruned: true }))
      .thenRefuses('execution_pruned'));
});

describe('the verdict that counts', () => {
  it('is the agent’s when nobody else spoke', () =>
    expect(verdictAfter(recorded(true))).toEqual({ source: 'agent', success: true, judged: false }));
  it('is the evaluator’s before the agent’s', () =>
    expect(verdictAfter(recorded(true, false))).toEqual({ source: 'evaluator', success: false, judged: true }));
  it('is a person’s before all others', () =>
    expect(verdictAfter(recorded(true, true), feedback(false))).toEqual({ source: 'feedback', success: false, judged: true }));
  it('stays when feedback says nothing about it', () =>
    expect(verdictAfter(recorded(true), feedback(null))).toEqual({ source: 'agent', success: true, judged: false }));
  it('can be changed, but not withdrawn', () =>
    expect(verdictAfter(recorded(true), feedback(false), feedback(null))).toEqual({
      source: 'feedback',
      success: false,
      judged: true,
    }));
  it('makes an agent-only run judged even when it agrees', () =>
    expect(verdictAfter(recorded(true), feedback(true)).judged).toBe(true));
});
