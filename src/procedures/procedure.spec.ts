import fc from 'fast-check';
import { given } from '../../test/support/given.js';
import {
  decideProcedure,
  evolveProcedure,
  noProcedure,
  procedureOf,
  type ParentFacts,
  type ProcedureCommand,
  type ProcedureContent,
  type ProcedureEvent,
} from './procedure.js';

const procedure_id = 'p-1';
const content: ProcedureContent = {
  scope: 'shop',
  question: 'How do I refund an order?',
  intent: null,
  graph: { steps: [] },
  version: '1.0',
};
const remembered = (status: 'active' | 'pending_review' = 'active', parent_id: string | null = null): ProcedureEvent => ({
  type: 'ProcedureRemembered',
  procedure_id,
  parent_id,
  status,
  based_on: [],
  sealed: content,
});
const archived: ProcedureEvent = { type: 'ProcedureArchived', procedure_id };
const approved: ProcedureEvent = { type: 'ProcedureApproved', procedure_id };
const rejected: ProcedureEvent = { type: 'ProcedureRejected', procedure_id };
const erased: ProcedureEvent = { type: 'ProcedureErased', procedure_id };
const remember = (more: Partial<Extract<ProcedureCommand, { type: 'Remember' }>> = {}): ProcedureCommand => ({
  type: 'Remember',
  procedure_id,
  content,
  review: false,
  parent: null,
  runStands: false,
  ...more,
});
const change = (type: 'Approve' | 'Reject' | 'Archive' | 'Restore', reason?: string): ProcedureCommand => ({
  type,
  procedure_id,
  reason,
});
const erase = (more: { by?: string; author?: string; admin?: boolean } = {}): ProcedureCommand => ({
  type: 'Erase',
  procedure_id,
  by: 'author',
  author: 'author',
  admin: false,
  ...more,
});
const parentIn = (scope: string, id = 'p-0'): ParentFacts => ({
  procedure_id: id,
  procedure: procedureOf([{ data: { ...remembered(), sealed: { ...content, scope } } as ProcedureEvent }]),
  basis: 'procedure-t_p-0@0',
});

const procedure = given({ decide: decideProcedure, evolve: evolveProcedure, initial: noProcedure });

describe('a procedure', () => {
  it('starts active', () => procedure([]).when(remember()).then([remembered()]));
  it('starts pending when review is asked for', () =>
    procedure([])
      .when(remember({ review: true }))
      .then([remembered('pending_review')]));
  it('is not remembered twice', () => procedure([remembered()]).when(remember()).then([]));
  it('stays as it is when an archived version is remembered again', () =>
    procedure([remembered(), archived]).when(remember()).then([]));

  it('records the parent it improves on, and what the decision rests on', () =>
    procedure([])
      .when(remember({ parent: parentIn('shop') }))
      .then([{ ...remembered('active', 'p-0'), based_on: ['procedure-t_p-0@0'] } as ProcedureEvent]));
  it('has no parent in another scope', () =>
    procedure([])
      .when(remember({ parent: parentIn('desk') }))
      .thenRefuses('parent_in_other_scope'));
  it('has no parent that was never remembered', () =>
    procedure([])
      .when(remember({ parent: { ...parentIn('shop'), procedure: noProcedure } }))
      .thenRefuses('parent_not_found'));
  it('has no parent that is erased', () =>
    procedure([])
      .when(remember({ parent: { ...parentIn('shop'), procedure: { status: 'erased' } } }))
      .thenRefuses('parent_not_found'));
  it('keeps the parent it has', () =>
    procedure([remembered()])
      .when(remember({ parent: parentIn('shop') }))
      .thenRefuses('parent_differs'));

  it('is approved once', () =>
    procedure([remembered('pending_review')])
      .when(change('Approve'))
      .then([approved]));
  it('approved already needs no approval', () =>
    procedure([remembered('pending_review'), approved])
      .when(change('Approve'))
      .then([]));
  it('keeps the reason of a rejection sealed', () =>
    procedure([remembered('pending_review')])
      .when(change('Reject', 'wrong account'))
      .then([{ ...rejected, sealed: { reason: 'wrong account' } }]));
  it('rejected cannot be approved', () =>
    procedure([remembered('pending_review'), rejected])
      .when(change('Approve'))
      .thenRefuses('not_pending_review'));
  it('pending cannot be archived', () =>
    procedure([remembered('pending_review')])
      .when(change('Archive'))
      .thenRefuses('not_active'));
  it('archived is restored', () =>
    procedure([remembered(), archived])
      .when(change('Restore'))
      .then([{ type: 'ProcedureRestored', procedure_id }]));
  it('rejected cannot be restored', () =>
    procedure([remembered('pending_review'), rejected])
      .when(change('Restore'))
      .thenRefuses('not_archived'));
  it('that does not exist cannot be approved', () => procedure([]).when(change('Approve')).thenRefuses('not_found'));

  it('is erased from any status', () => {
    for (const past of [
      [remembered()],
      [remembered('pending_review')],
      [remembered('pending_review'), rejected],
      [remembered(), archived],
    ]) {
      procedure(past).when(erase()).then([erased]);
    }
  });
  it('is erased by its author and by an administrator, and by nobody else', () => {
    procedure([remembered()])
      .when(erase({ by: 'stranger' }))
      .thenRefuses('not_the_author');
    procedure([remembered()])
      .when(erase({ by: 'stranger', admin: true }))
      .then([erased]);
  });
  it('is not refused once its run stands, whatever came in between', () => {
    for (const past of [[remembered()], [remembered(), erased], [remembered('active', 'p-9')]]) {
      procedure(past)
        .when(remember({ runStands: true, parent: parentIn('shop') }))
        .then([]);
    }
  });
  it('erased stays erased', () => procedure([remembered(), erased]).when(erase()).then([]));
  it('erased takes no other command', () => procedure([remembered(), erased]).when(change('Approve')).thenRefuses('erased'));
  it('never existed, so there is nothing to erase', () => procedure([]).when(erase()).thenRefuses('not_found'));

  it('never decides an event that it cannot take, whatever the order of commands', () => {
    const command: fc.Arbitrary<ProcedureCommand> = fc.oneof(
      fc.boolean().map((review) => remember({ review })),
      fc.constantFrom('Approve', 'Reject', 'Archive', 'Restore').map((type) => change(type)),
      fc.constant<ProcedureCommand>({ type: 'Prune', procedure_id, before: new Date(0) }),
      fc.constant(erase()),
    );
    fc.assert(
      fc.property(fc.array(command, { maxLength: 12 }), (commands) => {
        let state = procedureOf([]);
        for (const next of commands) {
          const decision = decideProcedure(next, state);
          if ('refused' in decision) continue;
          const after = decision.reduce(evolveProcedure, state);
          const changesStatus = decision.some(({ type }) => type !== 'ExecutionsPruned');
          expect(after.status === state.status).toBe(!changesStatus);
          // Deciding the same again changes nothing more, except that pruning may always be repeated.
          const again = decideProcedure(next, after);
          expect('refused' in again ? again.refused : again.filter(({ type }) => type !== 'ExecutionsPruned')).toEqual([]);
          state = after;
        }
      }),
    );
  });
});
