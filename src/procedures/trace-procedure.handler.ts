import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { isRedacted, type RecordedEvent } from '../event-log/domain-event.js';
import { CommandRefused } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import type { JudgedCounters } from '../ranking/procedure-score.js';
import { MemoryHistory } from '../trace/memory-history.js';
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
    const own = history?.events.filter((event): event is RecordedEvent<ProcedureEvent> => event.kind === 'procedure') ?? [];
    // Runs alone are those of a procedure whose remembering was cut short: it does not exist yet.
    if (!history || own.length === 0) throw new CommandRefused('not_found');
    const { shown, next } = page(history.events, { after: request.after, most: request.maxEvents });
    const state = procedureState(procedureOf(own), judgedCountersOf(history.events));
    return { kind: 'procedure', id, state, events: shown.map(tracedEvent), next, completeTo: history.completeTo };
  }
}

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
    const [first] = history?.events ?? [];
    if (!history || first?.kind !== 'execution') throw new CommandRefused('not_found');
    const procedure = await this.streams.load<ProcedureEvent>(procedureStream(team, first.data.procedure_id));
    const execution = executionOf(history.events);
    if (execution.status === 'none' || procedure.events.length === 0) throw new CommandRefused('not_found');
    const state = executionState(execution, isPruned(first, procedure.events));
    const { shown, next } = page(history.events, { after: request.after, most: request.maxEvents });
    return { kind: 'execution', id, state, events: shown.map(tracedEvent), next, completeTo: history.completeTo };
  }
}

function executionState(execution: RecordedExecution, pruned: boolean): ExecutionState {
  const { execution_id, procedure_id, agent_success, evaluator_success, feedback_worked, scores } = execution;
  const { source, success } = verdictOf(execution);
  return { execution_id, procedure_id, agent_success, evaluator_success, feedback_worked, scores, source, success, pruned };
}
