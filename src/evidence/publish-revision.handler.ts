import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { CommandContext } from '../event-log/command-context.js';
import { executeCommand, isCommandRefused, type Written } from '../event-log/execute.js';
import { Streams } from '../event-log/streams.js';
import { EvidencePlaces } from './evidence-places.js';
import { decideSource, type PublishedRevision, type SourceEvent, sourceOf, sourceStream } from './source.js';

/** Holds no content. */
export interface PublishReceipt {
  readonly source_id: string;
  /** Of the current revision among the published, from 1. */
  readonly number: number;
  /** `unchanged`: that revision was the current one already. */
  readonly outcome: 'published' | 'unchanged';
}

export class PublishRevision extends Command<Written & { readonly receipt: PublishReceipt }> {
  constructor(
    readonly context: CommandContext,
    readonly published: PublishedRevision,
    readonly expectedRevision: bigint | undefined,
  ) {
    super();
  }
}

/** Makes a revision the current one of its source, and older evidence of the source non-current, however much there is. */
@CommandHandler(PublishRevision)
export class PublishRevisionHandler implements ICommandHandler<PublishRevision> {
  constructor(
    private readonly streams: Streams,
    private readonly places: EvidencePlaces,
  ) {}

  async execute(command: PublishRevision): Promise<Written & { readonly receipt: PublishReceipt }> {
    for (;;) {
      try {
        return await this.publish(command);
      } catch (error) {
        // Erased between the look and the append: the key's next generation is found now.
        if (!isCommandRefused(error) || error.code !== 'erased') throw error;
      }
    }
  }

  private async publish({ context, published, expectedRevision }: PublishRevision) {
    const { source_id } = await (await this.places.of(context.team)).findSource(context, published.key);
    const stream = sourceStream(context.team, source_id);
    const result = await executeCommand<SourceEvent>(this.streams, {
      stream,
      context,
      ...(expectedRevision === undefined ? {} : { expectedRevision }),
      decide: (events) => decideSource({ type: 'Publish', source_id, ...published }, sourceOf(events)),
    });
    const { revision, position, outcome } = result;
    const { events } = await this.streams.load<SourceEvent>(stream);
    const source = sourceOf(events.filter((event) => revision !== 'no_stream' && event.revision <= revision));
    if (source.status !== 'published') throw new Error('what was published has a number');
    const { number } = source;
    const receipt = { source_id, number, outcome: outcome === 'unchanged' ? 'unchanged' : 'published' } as const;
    return { receipt, revision, position };
  }
}
