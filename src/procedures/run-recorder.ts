import { Injectable } from '@nestjs/common';
import type { CommandContext } from '../event-log/command-context.js';
import { CommandRefused, executeCommand, refuseAnotherRequest } from '../event-log/execute.js';
import { deriveId } from '../event-log/ids.js';
import { Streams } from '../event-log/streams.js';
import { decideRun, type ExecutionEvent, executionOf, executionStream } from './execution.js';
import { type ReportedRun, RunJudge } from './run-judge.js';

/** A run in the log. */
export interface StandingRun {
  readonly run: Extract<ExecutionEvent, { type: 'ExecutionRecorded' }>;
  readonly revision: bigint;
  readonly position: bigint;
}

/** The run that a command records: its id follows from the command, so there is one, however often the command is sent. */
@Injectable()
export class RunRecorder {
  constructor(
    private readonly streams: Streams,
    private readonly judge: RunJudge,
  ) {}

  /**
   * What an earlier copy of the command recorded. Asked before anything is decided, embedded or judged.
   *
   * @throws CommandRefused `idempotency_key_reused`
   */
  async find(context: CommandContext): Promise<StandingRun | undefined> {
    const { events } = await this.streams.load<ExecutionEvent>(this.stream(context));
    const [first] = events;
    if (first?.data.type !== 'ExecutionRecorded') return undefined;
    refuseAnotherRequest(first.metadata, context);
    return { run: first.data, revision: first.revision, position: first.position };
  }

  /** Judges the run, where somebody can, and appends it. @throws AdapterDefect, and what executeCommand throws */
  async record(
    context: CommandContext,
    procedure_id: string,
    reported: ReportedRun,
    about: { question: string; graph: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<StandingRun> {
    const stream = this.stream(context);
    const judged = await this.judge.judge(reported, about, signal);
    const command = { type: 'RecordRun', execution_id: stream.id, procedure_id, ...judged } as const;
    const { occurredAt } = reported;
    await executeCommand<ExecutionEvent>(this.streams, {
      stream,
      context,
      ...(occurredAt ? { occurredAt } : {}),
      decide: (events) => decideRun(command, executionOf(events)),
    });
    // Read back: of two copies at once, the one that was stored counts.
    const standing = await this.find(context);
    if (!standing) throw new CommandRefused('not_found');
    return standing;
  }

  private stream({ team, commandId }: CommandContext) {
    return executionStream(team, deriveId(commandId, 'execution'));
  }
}
