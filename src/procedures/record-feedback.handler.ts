import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import type { RecordedEvent } from '../event-log/domain-event.js';
import { CommandRefused, executeCommand, type Refusal } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import {
  decideFeedback,
  type ExecutionEvent,
  executionOf,
  executionStream,
  type FeedbackScores,
  isPruned,
  noExecution,
  type Verdict,
} from './execution.js';
import { type ProcedureEvent, procedureOf, procedureStream } from './procedure.js';
import { runOf, verdictAfter } from './run-receipt.js';

export interface FeedbackInput {
  readonly worked: boolean | null;
  readonly scores: FeedbackScores;
}

export interface FeedbackReceipt extends Pick<Verdict, 'source' | 'success'> {
  readonly execution_id: string;
  readonly procedure_id: string;
  readonly revision: bigint | 'no_stream';
  readonly position: bigint;
}

export class RecordFeedback extends Command<FeedbackReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly executionId: string,
    readonly input: FeedbackInput,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/** A person's verdict on a run.  */
@CommandHandler(RecordFeedback)
export class RecordFeedbackHandler implements ICommandHandler<RecordFeedback> {
  constructor(private readonly streams: Streams) {}

  async execute({ context, executionId: execution_id, input, expectedRevision }: RecordFeedback): Promise<FeedbackReceipt> {
    const stream = executionStream(context.team, execution_id);
    const { revision, position } = await executeCommand<ExecutionEvent>(this.streams, {
      stream,
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => this.decide(context.team, input, events),
    });
    // As the run stood after this command, so that a repeated one gets the same receipt.
    const events = (await this.streams.load<ExecutionEvent>(stream)).events.filter(
      (event) => revision !== 'no_stream' && event.revision <= revision,
    );
    const run = runOf(events);
    const verdict = verdictAfter(events);
    if (!run || !verdict) throw new CommandRefused('not_found');
    return { execution_id, procedure_id: run.procedure_id, source: verdict.source, success: verdict.success, revision, position };
  }

  /** With the facts of the procedure's stream that a verdict on its run depends on. */
  private async decide(
    team: string,
    input: FeedbackInput,
    events: readonly RecordedEvent<ExecutionEvent>[],
  ): Promise<readonly ExecutionEvent[] | Refusal> {
    const [first] = events;
    if (!first) return decideFeedback({ type: 'RecordFeedback', ...input, procedure: 'none', pruned: false }, noExecution);
    const procedure = await this.streams.load<ProcedureEvent>(procedureStream(team, first.data.procedure_id));
    const { status } = procedureOf(procedure.events);
    const pruned = isPruned(first, procedure.events);
    return decideFeedback({ type: 'RecordFeedback', ...input, procedure: status, pruned }, executionOf(events));
  }
}
