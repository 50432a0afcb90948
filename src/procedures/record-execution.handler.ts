import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import { isRedacted } from '../event-log/domain-event.js';
import { CommandRefused, executeCommand } from '../event-log/execute.js';
import { deriveId } from '../event-log/ids.js';
import { Streams } from '../event-log/streams.js';
import { type ExecutionEvent, executionStream } from './execution.js';
import { type ProcedureContent, type ProcedureEvent, procedureOf, procedureStream } from './procedure.js';
import { type ReportedRun, RunJudge } from './run-judge.js';
import { type RunReceipt, runReceipt } from './run-receipt.js';

export interface ExecutionReceipt extends RunReceipt {
  readonly revision: bigint | 'no_stream';
  readonly position: bigint;
}

export class RecordExecution extends Command<ExecutionReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly procedureId: string,
    readonly run: ReportedRun,
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
    private readonly judge: RunJudge,
  ) {}

  async execute({ context, procedureId: procedure_id, run, signal }: RecordExecution): Promise<ExecutionReceipt> {
    const content = await this.contentOf(context.team, procedure_id);
    const execution_id = deriveId(context.commandId, 'execution');
    const { events, revision, position } = await executeCommand<ExecutionEvent>(this.streams, {
      stream: executionStream(context.team, execution_id),
      context,
      ...(run.occurredAt ? { occurredAt: run.occurredAt } : {}),
      decide: async () => [
        { type: 'ExecutionRecorded', execution_id, procedure_id, ...(await this.judge.judge(run, content, signal)) },
      ],
    });
    const [recorded] = events;
    if (recorded?.type !== 'ExecutionRecorded' || recorded.procedure_id !== procedure_id)
      throw new CommandRefused('idempotency_key_reused');
    return { ...runReceipt(recorded), revision, position };
  }

  private async contentOf(team: string, procedureId: string): Promise<ProcedureContent> {
    const procedure = procedureOf((await this.streams.load<ProcedureEvent>(procedureStream(team, procedureId))).events);
    if (procedure.status === 'none') throw new CommandRefused('not_found');
    if (procedure.status === 'erased' || isRedacted(procedure.content)) throw new CommandRefused('erased');
    return procedure.content;
  }
}
