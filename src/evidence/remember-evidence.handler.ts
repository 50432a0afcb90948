import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import type { RecordedEvent } from '../event-log/domain-event.js';
import { executeCommand, isCommandRefused, type Written } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import { EvidencePlaces } from './evidence-places.js';
import type { EvidenceInput } from './evidence-requests.js';
import { decideEvidence, type Evidence, type EvidenceEvent, evidenceOf, evidenceStream } from './evidence.js';

/** Holds no content. */
export interface RememberReceipt {
  readonly evidence_id: string;
  /** A duplicate answers with the first one's id. */
  readonly outcome: 'created' | 'duplicate';
  readonly status: Evidence['status'];
  readonly source_id: string | null;
}

export type Remembered = Written & { readonly receipt: RememberReceipt };

export class RememberEvidence extends Command<Remembered> {
  constructor(
    readonly context: CommandContext,
    readonly input: EvidenceInput,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/** Remembers evidence, or finds that it is known and adds the caller's handle to it. */
@CommandHandler(RememberEvidence)
export class RememberEvidenceHandler implements ICommandHandler<RememberEvidence> {
  constructor(
    private readonly streams: Streams,
    private readonly places: EvidencePlaces,
  ) {}

  async execute(command: RememberEvidence): Promise<Remembered> {
    for (;;) {
      try {
        return await this.remember(command);
      } catch (error) {
        // Erased between the look and the append: the next generation's place is found now.
        if (!isCommandRefused(error) || error.code !== 'erased') throw error;
      }
    }
  }

  private async remember({ context, input, expectedRevision }: RememberEvidence): Promise<Remembered> {
    const { evidence_id, generation, source_id } = await (await this.places.of(context.team)).find(context, input);
    const facts = { evidence_id, generation, source_id, ...input.facts };
    const stream = evidenceStream(context.team, evidence_id);
    const { occurred_at } = input.facts;
    let known: readonly { data: EvidenceEvent }[] = [];
    const { revision, position, outcome, events } = await executeCommand<EvidenceEvent>(this.streams, {
      stream,
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      ...(occurred_at === null ? {} : { occurredAt: new Date(occurred_at) }),
      decide: (before) => {
        known = before;
        return decideEvidence({ type: 'Remember', facts, content: input.content }, evidenceOf(before));
      },
    });
    if (outcome === 'repeated') {
      const { events: all } = await this.streams.load<EvidenceEvent>(stream);
      return { receipt: firstReceipt(all, context, revision), revision, position };
    }
    const { status } = evidenceOf([...known, ...events.map((data) => ({ data }))]);
    const receipt = { evidence_id, outcome: known.length === 0 ? 'created' : 'duplicate', status, source_id } as const;
    return { receipt, revision, position };
  }
}

/** From the log alone, up to where the command stands in it: a repetition gets the same one, whatever has happened since. */
function firstReceipt(
  events: readonly RecordedEvent<EvidenceEvent>[],
  { commandId }: CommandContext,
  revision: bigint | 'no_stream',
): RememberReceipt {
  const known = events.filter((event) => revision !== 'no_stream' && event.revision <= revision);
  const [first] = known;
  if (first?.data.type !== 'EvidenceRemembered') throw new Error('what was remembered begins with it');
  const { evidence_id, source_id } = first.data;
  const outcome = first.metadata.causationId === commandId ? 'created' : 'duplicate';
  return { evidence_id, outcome, status: evidenceOf(known).status, source_id };
}
