import type { DomainEvent, Sealed } from '../event-log/domain-event.js';
import type { EventDefinitions } from '../event-log/event-catalogue.js';
import type { Refusal } from '../event-log/execute.js';

/**
 * A procedure version: a stored way to answer a question. Its runs have streams of their own (see execution.ts), so that a
 * busy procedure is no contention point.
 */
export const procedureStream = (team: string, procedure: string) => ({ kind: 'procedure', team, id: procedure }) as const;

export const questionLimit = 4_000; // code points
export const graphLimit = 200 * 1024; // bytes of JSON

/** What a person or an agent wrote; sealed under the procedure's own key. */
export interface ProcedureContent {
  readonly scope: string;
  readonly question: string;
  readonly intent: string | null;
  /** The plan: any JSON object. */
  readonly graph: Readonly<Record<string, unknown>>;
  readonly version: string;
}

export type ProcedureEvent = DomainEvent &
  (
    | {
        readonly type: 'ProcedureRemembered';
        readonly procedure_id: string;
        readonly parent_id: string | null;
        readonly status: 'active' | 'pending_review';
        /** Facts of other streams the decision rests on, as `stream@revision`. */
        readonly based_on: readonly string[];
        readonly sealed: Sealed<ProcedureContent>;
      }
    | ({ readonly type: 'ProcedureApproved' | 'ProcedureRejected' | 'ProcedureArchived' | 'ProcedureRestored' } & StatusChange)
    /** Runs that happened before this time and stand before this event lose their verdicts. */
    | { readonly type: 'ExecutionsPruned'; readonly procedure_id: string; readonly before: string }
    | { readonly type: 'ProcedureErased'; readonly procedure_id: string }
  );

interface StatusChange {
  readonly procedure_id: string;
  readonly sealed?: Sealed<{ reason: string }>;
}

const keyOwner = ({ procedure_id }: { procedure_id: string }) => procedure_id;

export const procedureEvents: EventDefinitions<ProcedureEvent> = {
  ProcedureRemembered: { version: 1, keyOwner },
  ProcedureApproved: { version: 1, keyOwner },
  ProcedureRejected: { version: 1, keyOwner },
  ProcedureArchived: { version: 1, keyOwner },
  ProcedureRestored: { version: 1, keyOwner },
  ExecutionsPruned: { version: 1 },
  ProcedureErased: { version: 1 },
};

export type ProcedureStatus = 'pending_review' | 'active' | 'rejected' | 'archived';

export type Procedure =
  | { readonly status: 'none' }
  | { readonly status: ProcedureStatus; readonly parent_id: string | null; readonly content: Sealed<ProcedureContent> }
  | { readonly status: 'erased' };

export const noProcedure: Procedure = { status: 'none' };

export function evolveProcedure(procedure: Procedure, event: ProcedureEvent): Procedure {
  switch (event.type) {
    case 'ProcedureRemembered':
      return { status: event.status, parent_id: event.parent_id, content: event.sealed };
    case 'ProcedureApproved':
    case 'ProcedureRestored':
      return withStatus(procedure, 'active');
    case 'ProcedureRejected':
      return withStatus(procedure, 'rejected');
    case 'ProcedureArchived':
      return withStatus(procedure, 'archived');
    case 'ExecutionsPruned':
      return procedure;
    case 'ProcedureErased':
      return { status: 'erased' };
    default:
      return event satisfies never;
  }
}

const withStatus = (procedure: Procedure, status: ProcedureStatus): Procedure =>
  procedure.status === 'none' || procedure.status === 'erased' ? procedure : { ...procedure, status };

export const procedureOf = (events: readonly { data: ProcedureEvent }[]): Procedure =>
  events.reduce<Procedure>((procedure, { data }) => evolveProcedure(procedure, data), noProcedure);

/** The version that a new one improves on, as its stream stood when the decision was made. */
export interface ParentFacts {
  readonly procedure_id: string;
  readonly procedure: Procedure;
  readonly basis: string;
}

export type ProcedureCommand =
  | {
      readonly type: 'Remember';
      readonly procedure_id: string;
      readonly content: ProcedureContent;
      readonly review: boolean;
      readonly parent: ParentFacts | null;
      /** Whether the command's run is in the log already: then it is decided, and whatever came in between refuses it no more. */
      readonly runStands: boolean;
    }
  | {
      readonly type: 'Approve' | 'Reject' | 'Archive' | 'Restore';
      readonly procedure_id: string;
      readonly reason: string | undefined;
    }
  | { readonly type: 'Prune'; readonly procedure_id: string; readonly before: Date }
  | {
      readonly type: 'Erase';
      readonly procedure_id: string;
      /** Who wants it gone, who remembered it, and whether the first may erase what others wrote. */
      readonly by: string | undefined;
      readonly author: string | undefined;
      readonly admin: boolean;
    };

export type ProcedureRefusal =
  | 'not_found'
  | 'erased'
  | 'parent_not_found'
  | 'parent_in_other_scope'
  | 'parent_differs'
  | 'not_pending_review'
  | 'not_active'
  | 'not_archived'
  | 'not_the_author';

const refuse = (refused: ProcedureRefusal, field?: string): Refusal => ({ refused, ...(field ? { field } : {}) });

/** The events that follow from a command, none when it is already so, or why not. */
export function decideProcedure(command: ProcedureCommand, procedure: Procedure): readonly ProcedureEvent[] | Refusal {
  if (command.type === 'Remember') return decideRemember(command, procedure);
  if (procedure.status === 'erased') return command.type === 'Erase' ? [] : refuse('erased');
  if (procedure.status === 'none') return refuse('not_found');
  const { procedure_id } = command;
  switch (command.type) {
    case 'Approve':
      return transition(command, procedure.status, {
        from: 'pending_review',
        to: 'active',
        event: 'ProcedureApproved',
        otherwise: 'not_pending_review',
      });
    case 'Reject':
      return transition(command, procedure.status, {
        from: 'pending_review',
        to: 'rejected',
        event: 'ProcedureRejected',
        otherwise: 'not_pending_review',
      });
    case 'Archive':
      return transition(command, procedure.status, {
        from: 'active',
        to: 'archived',
        event: 'ProcedureArchived',
        otherwise: 'not_active',
      });
    case 'Restore':
      return transition(command, procedure.status, {
        from: 'archived',
        to: 'active',
        event: 'ProcedureRestored',
        otherwise: 'not_archived',
      });
    case 'Prune':
      // Always: a run that was recorded after the last pruning may have happened before the same time.
      return [{ type: 'ExecutionsPruned', procedure_id, before: command.before.toISOString() }];
    case 'Erase':
      if (!command.admin && command.by !== command.author) return refuse('not_the_author');
      return [{ type: 'ProcedureErased', procedure_id }];
    default:
      return command satisfies never;
  }
}

/** The same version again is another run of it, never a duplicate; a parent that is gone gives no prior and cannot be named. */
function decideRemember(command: Extract<ProcedureCommand, { type: 'Remember' }>, procedure: Procedure) {
  const { parent, procedure_id, content, runStands } = command;
  if (procedure.status !== 'none') {
    if (runStands) return [];
    if (procedure.status === 'erased') return refuse('erased');
    return parent && parent.procedure_id !== procedure.parent_id ? refuse('parent_differs', 'parent_id') : [];
  }
  if (parent) {
    if (parent.procedure.status === 'none' || parent.procedure.status === 'erased')
      return refuse('parent_not_found', 'parent_id');
    const { content: parentContent } = parent.procedure;
    if (!('scope' in parentContent)) return refuse('parent_not_found', 'parent_id');
    if (parentContent.scope !== content.scope) return refuse('parent_in_other_scope', 'parent_id');
  }
  const remembered: ProcedureEvent = {
    type: 'ProcedureRemembered',
    procedure_id,
    parent_id: parent?.procedure_id ?? null,
    status: command.review ? 'pending_review' : 'active',
    based_on: parent ? [parent.basis] : [],
    sealed: content,
  };
  return [remembered];
}

interface Transition {
  readonly from: ProcedureStatus;
  readonly to: ProcedureStatus;
  readonly event: 'ProcedureApproved' | 'ProcedureRejected' | 'ProcedureArchived' | 'ProcedureRestored';
  readonly otherwise: ProcedureRefusal;
}

function transition(
  { procedure_id, reason }: { procedure_id: string; reason: string | undefined },
  status: ProcedureStatus,
  { from, to, event, otherwise }: Transition,
): readonly ProcedureEvent[] | Refusal {
  if (status === to) return [];
  if (status !== from) return refuse(otherwise);
  return [{ type: event, procedure_id, ...(reason === undefined ? {} : { sealed: { reason } }) }];
}
