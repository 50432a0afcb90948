import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import { executeCommand } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import { KeyDestroyer } from '../erasure/key-destroyer.js';
import type { ProcedureReceipt } from './change-procedure.handler.js';
import { decideProcedure, type ProcedureEvent, procedureOf, procedureStream } from './procedure.js';

export class EraseProcedure extends Command<ProcedureReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly procedureId: string,
    /** Whether the caller may erase what others wrote. */
    readonly admin: boolean,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/** Erases a version and, with its key, everything written about it and its runs. For its author or an administrator. */
@CommandHandler(EraseProcedure)
export class EraseProcedureHandler implements ICommandHandler<EraseProcedure> {
  constructor(
    private readonly streams: Streams,
    private readonly keyDestroyer: KeyDestroyer,
  ) {}

  async execute({ context, procedureId: procedure_id, admin, expectedRevision }: EraseProcedure): Promise<ProcedureReceipt> {
    const { revision, position } = await executeCommand<ProcedureEvent>(this.streams, {
      stream: procedureStream(context.team, procedure_id),
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => {
        const author = events[0]?.metadata.profile;
        return decideProcedure({ type: 'Erase', procedure_id, by: context.profile, author, admin }, procedureOf(events));
      },
    });
    // At once, not only when the consumer comes by: the caller is told that it is gone.
    await this.keyDestroyer.destroy(context.team, procedure_id);
    return { procedure_id, status: 'erased', revision, position };
  }
}
