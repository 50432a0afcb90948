import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import { isRedacted } from '../event-log/domain-event.js';
import { CommandRefused, VersionConflict } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import { type ProcedureContent, type ProcedureEvent, procedureOf, procedureStream } from './procedure.js';
import type { ReportedRun } from './run-judge.js';
import { type RunReceipt, runReceipt } from './run-receipt.js';
import { RunRecorder, type StandingRun } from './run-recorder.js';

export interface ExecutionReceipt extends RunReceipt {
  readonly revision: bigint;
  readonly position: bigint;
}

export class RecordExecution extends Command<ExecutionReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly procedureId: string,
    readonly run: ReportedRun,
    /** Of the procedure's stream, as the caller saw it before it ran. */
    readonly expectedRevision: bigint | undefined,
    readonly signal: AbortSignal,
  ) {
    super();
  }
}

/** Records one run of a version that exists, whatever its status. A copy of the command answers from the first and asks no judge. */
@CommandHandler(RecordExecution)
export class RecordExecutionHandler implements ICommandHandler<RecordExecution> {
  constructor(
    private readonly streams: Streams,
    private readonly runs: RunRecorder,
  ) {}

  async execute({ context, procedureId, run, expectedRevision, signal }: RecordExecution): Promise<ExecutionReceipt> {
    const earlier = await this.runs.find(context);
    if (earlier && earlier.run.procedure_id !== procedureId) throw new CommandRefused('idempotency_key_reused');
    if (earlier) return receiptOf(earlier);
    const content = await this.contentOf(context.team, procedureId, expectedRevision);
    return receiptOf(await this.runs.record(context, procedureId, run, content, signal));
  }

  private async contentOf(team: string, procedureId: string, expectedRevision: bigint | undefined): Promise<ProcedureContent> {
    const { events, revision } = await this.streams.load<ProcedureEvent>(procedureStream(team, procedureId));
    const procedure = procedureOf(events);
    if (procedure.status === 'none') throw new CommandRefused('not_found');
    if (procedure.status === 'erased' || isRedacted(procedure.content)) throw new CommandRefused('erased');
    if (expectedRevision !== undefined && revision !== expectedRevision) throw new VersionConflict(revision);
    return procedure.content;
  }
}

const receiptOf = ({ run, revision, position }: StandingRun): ExecutionReceipt => ({ ...runReceipt(run), revision, position });
