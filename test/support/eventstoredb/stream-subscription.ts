import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ReadFault } from './faults.js';
import { type Ending, type Node } from './node.js';
import { type ReadCall } from './read-call.js';
import { streamDeleted } from './rpc-errors.js';
import { pageSize, Subscription } from './subscription.js';
import { type StoredEvent } from './stored-events.js';

/** A subscription to one stream, which need not exist. It ends with an error when the stream does so for ever. */
export class StreamSubscription extends Subscription {
  private revision: bigint;

  constructor(
    node: Node,
    ending: Ending & { readonly call: ReadCall },
    options: streams.ReadReq.Options,
    private readonly stream: string,
    fault: ReadFault | undefined,
  ) {
    super(node, ending, fault);
    if (node.events.stream(stream) === 'deleted') throw streamDeleted(stream);
    const place = options.getStream();
    const last = node.events.lastRevision(stream);
    if (place?.hasEnd()) this.revision = last === 'no_stream' ? -1n : last;
    else this.revision = place?.hasRevision() ? BigInt(place.getRevision()) : -1n;
  }

  protected override atEnd(): boolean {
    return this.toCome().length === 0;
  }

  protected override async catchUp(): Promise<void> {
    while (await this.sendNext());
  }

  protected override async next(): Promise<'more' | 'none' | 'too_many'> {
    if (this.toCome().length > pageSize) return 'too_many';
    return (await this.sendNext()) ? 'more' : 'none';
  }

  private async sendNext(): Promise<boolean> {
    const [event] = this.toCome();
    if (!event || this.isOver) return false;
    this.revision = event.revision;
    await this.sendEvent(event);
    if (event.type === '$streamDeleted') throw streamDeleted(this.stream);
    return true;
  }

  private toCome(): readonly StoredEvent[] {
    return this.node.events.visible(this.stream).filter(({ revision }) => revision > this.revision);
  }
}
