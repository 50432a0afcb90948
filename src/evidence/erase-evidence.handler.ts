import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { KeyDestroyer } from '../erasure/key-destroyer.js';
import type { CommandContext } from '../event-log/command-context.js';
import { executeCommand, type Written } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import { authorshipOf, type EvidenceReceipt } from './change-evidence.handler.js';
import { decideEvidence, type EvidenceEvent, evidenceOf, evidenceStream } from './evidence.js';
import { decideSource, type SourceEvent, sourceOf, sourceStream } from './source.js';

export class EraseEvidence extends Command<EvidenceReceipt> {
  constructor(
    readonly context: CommandContext,
    readonly evidenceId: string,
    /** Whether the caller may erase what others remembered. */
    readonly admin: boolean,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/** Erases evidence and, with its key, everything written about it. For its owner or an administrator. */
@CommandHandler(EraseEvidence)
export class EraseEvidenceHandler implements ICommandHandler<EraseEvidence> {
  constructor(
    private readonly streams: Streams,
    private readonly keyDestroyer: KeyDestroyer,
  ) {}

  async execute({ context, evidenceId: evidence_id, admin, expectedRevision }: EraseEvidence): Promise<EvidenceReceipt> {
    const { revision, position } = await executeCommand<EvidenceEvent>(this.streams, {
      stream: evidenceStream(context.team, evidence_id),
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => {
        const authorship = authorshipOf(events, context, admin);
        return decideEvidence({ type: 'Erase', evidence_id, authorship }, evidenceOf(events));
      },
    });
    // At once, not only when the consumer comes by: the caller is told that it is gone.
    await this.keyDestroyer.destroy(context.team, evidence_id);
    return { evidence_id, status: 'erased', revision, position };
  }
}

export class EraseSource extends Command<Written> {
  constructor(
    readonly context: CommandContext,
    readonly sourceId: string,
    /** Whether the caller may erase what others published. */
    readonly admin: boolean,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/**
 * Erases a source: its key, and the names of its revisions. Its evidence is others' to erase and stays, but is recalled no more.
 * For whoever published first, or an administrator.
 */
@CommandHandler(EraseSource)
export class EraseSourceHandler implements ICommandHandler<EraseSource> {
  constructor(
    private readonly streams: Streams,
    private readonly keyDestroyer: KeyDestroyer,
  ) {}

  async execute({ context, sourceId: source_id, admin, expectedRevision }: EraseSource): Promise<Written> {
    const written = await executeCommand<SourceEvent>(this.streams, {
      stream: sourceStream(context.team, source_id),
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => {
        const authorship = authorshipOf(events, context, admin);
        return decideSource({ type: 'Erase', source_id, authorship }, sourceOf(events));
      },
    });
    await this.keyDestroyer.destroy(context.team, source_id);
    return written;
  }
}
