import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { isRedacted, type RecordedEvent } from '../event-log/domain-event.js';
import { CommandRefused } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import type { JudgedCounters } from '../ranking/procedure-score.js';
import type { AsOf } from '../trace/as-of.js';
import { knownThen, MemoryHistory } from '../trace/memory-history.js';
import { page, type Trace, tracedEvent } from '../trace/trace.js';
import { type ExecutionEvent, executionOf, isPruned, type RecordedExecution, type Verdict, verdictOf } from './execution.js';
import { judgedCountersOf } from './judged-counters.js';
import { type Procedure, type ProcedureContent, type ProcedureEvent, procedureOf, procedureStream } from './procedure.js';

export interface TraceRequest {
  readonly team: string;
  readonly id: string;
  /** Whether the reader may see what people wrote. */
  readonly content: boolean;
  readonly after: bigint;
  readonly maxEvents: number;
  /** The moment it is of; undefined for now. */
  readonly asOf: AsOf | undefined;
}

export interface ProcedureState {
  readonly status: Procedure['status'];
  readonly parent_id: string | null;
  readonly content: ProcedureContent | null;
  readonly counters: JudgedCounters;
}

export interface ExecutionState extends Omit<RecordedExecution, 'status'>, Omit<Verdict, 'judged'> {
  readonly pruned: boolean;
}

export class TraceProcedure extends Query<Trace<ProcedureState>> {
  constructor(readonly request: TraceRequest) {
    super();
  }
}

export class TraceExecution extends Query<Trace<ExecutionState>> {
  constructor(readonly request: TraceRequest) {
    super();
  }
}

/** A procedure's own events and those of its runs, and how its counters came about. */
@QueryHandler(TraceProcedure)
export class TraceProcedureHandler implements IQueryHandler<TraceProcedure> {
  constructor(private readonly histories: MemoryHistory) {}

  async execute({ request }: TraceProcedure): Promise<Trace<ProcedureState>> {
    const { team, id, content } = request;
    const history = await this.histories.read<ProcedureEvent | ExecutionEvent>(team, id, { content });
    const known = history && knownThen(history, request.asOf);
    // Runs alone are those of a procedure whose remembering was cut short: it does not exist yet.
    if (!history || !known?.events.some(isOwn)) throw new CommandRefused('not_found');
    const { shown, next } = page(known.events, { after: request.after, most: request.maxEvents });
    const state = isErased(history.events) ? erasedState : stateAfter(known.events);
    return { kind: 'procedure', id, state, events: shown.map(tracedEvent), next, completeTo: known.completeTo };
  }
}

const isOwn = (event: RecordedEvent<ProcedureEvent | ExecutionEvent>): event is RecordedEvent<ProcedureEvent> =>
  event.kind === 'procedure';

/** Erasure holds at every moment, also at those before it. */
const isErased = (events: readonly RecordedEvent[]): boolean => events.some(({ data }) => data.type === 'ProcedureErased');

const erasedState: ProcedureState = { status: 'erased', parent_id: null, content: null, counters: judgedCountersOf([]) };

const stateAfter = (events: readonly RecordedEvent<ProcedureEvent | ExecutionEvent>[]): ProcedureState =>
  procedureState(procedureOf(events.filter(isOwn)), judgedCountersOf(events));

function procedureState(procedure: Procedure, counters: JudgedCounters): ProcedureState {
  if (procedure.status === 'none' || procedure.status === 'erased')
    return { status: procedure.status, parent_id: null, content: null, counters };
  const { status, parent_id } = procedure;
  // Left out, not redacted, where the reader may not see content: the boxes were never opened.
  const content = procedure.content as ProcedureState['content'] | undefined;
  return { status, parent_id, content: content && !isRedacted(content) ? content : null, counters };
}

/** One run's events, and the verdict that counts after them. */
@QueryHandler(TraceExecution)
export class TraceExecutionHandler implements IQueryHandler<TraceExecution> {
  constructor(
    private readonly histories: MemoryHistory,
    private readonly streams: Streams,
  ) {}

  async execute({ request }: TraceExecution): Promise<Trace<ExecutionState>> {
    const { team, id, content } = request;
    const history = await this.histories.read<ExecutionEvent>(team, id, { content });
    const known = history && knownThen(history, request.asOf);
    const [first] = known?.events ?? [];
    if (!known || first?.kind !== 'execution') throw new CommandRefused('not_found');
    const { events: ofProcedure } = await this.streams.load<ProcedureEvent>(procedureStream(team, first.data.procedure_id));
    const procedure = request.asOf ? ofProcedure.filter(({ position }) => position <= known.completeTo) : ofProcedure;
    const execution = executionOf(known.events);
    if (execution.status === 'none' || procedure.length === 0) throw new CommandRefused('not_found');
    const state = executionState(execution, isPruned(first, procedure));
    const { shown, next } = page(known.events, { after: request.after, most: request.maxEvents });
    return { kind: 'execution', id, state, events: shown.map(tracedEvent), next, completeTo: known.completeTo };
  }
}

function executionState(execution: RecordedExecution, pruned: boolean): ExecutionState {
  const { execution_id, procedure_id, agent_success, evaluator_success, feedback_worked, scores } = execution;
  const { source, success } = verdictOf(execution);
  return { execution_id, procedure_id, agent_success, evaluator_success, feedback_worked, scores, source, success, pruned };
}
