import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import { executeCommand } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import {
  decideProcedure,
  type Procedure,
  type ProcedureCommand,
  type ProcedureEvent,
  procedureOf,
  procedureStream,
} from './procedure.js';

export interface ProcedureReceipt {
  readonly procedure_id: string;
  readonly status: Procedure['status'];
  readonly revision: bigint | 'no_stream';
  readonly position: bigint;
}

/** Approve, reject, archive, restore, or prune its runs. */
export class ChangeProcedure extends Command<ProcedureReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly change: Exclude<ProcedureCommand, { type: 'Remember' | 'Erase' }>,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

@CommandHandler(ChangeProcedure)
export class ChangeProcedureHandler implements ICommandHandler<ChangeProcedure> {
  constructor(private readonly streams: Streams) {}

  async execute({ context, change, expectedRevision }: ChangeProcedure): Promise<ProcedureReceipt> {
    const stream = procedureStream(context.team, change.procedure_id);
    const { revision, position } = await executeCommand<ProcedureEvent>(this.streams, {
      stream,
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => decideProcedure(change, procedureOf(events)),
    });
    const { events } = await this.streams.load<ProcedureEvent>(stream);
    // As it stood after this command, so that a repeated one gets the same receipt.
    const { status } = procedureOf(events.filter((event) => revision !== 'no_stream' && event.revision <= revision));
    return { procedure_id: change.procedure_id, status, revision, position };
  }
}
