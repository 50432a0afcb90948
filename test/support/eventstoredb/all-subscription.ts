import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ReadFault } from './faults.js';
import { filterOf } from './filter.js';
import * as messages from './messages.js';
import { type Ending, type Node } from './node.js';
import { beforeAll, compare, type Place, placeOf } from './place.js';
import { type ReadCall } from './read-call.js';
import { invalidPosition } from './rpc-errors.js';
import { pageSize, Subscription } from './subscription.js';
import { type StoredEvent } from './stored-events.js';

interface Page {
  readonly start: Place;
  readonly events: readonly StoredEvent[];
  readonly considered: number;
  readonly next: Place;
  readonly reachedEnd: boolean;
}

/**
 * A subscription to all. With a filter it has a `checkpoint` after so many events were looked at, whether they matched
 * or not, and one whenever it has caught up. A checkpoint never lies before the last event sent.
 */
export class AllSubscription extends Subscription {
  /** The event or checkpoint sent last. */
  private reached: Place;
  private lastCheckpoint: Place = beforeAll;
  /** Position of the last event that was looked at. */
  private seen: bigint;
  private readonly matches: (event: StoredEvent) => boolean;
  private readonly window: number;
  private readonly interval: number;
  /** Position of the last event there was when it began: later ones are counted for checkpoints. */
  private readonly liveAfter: bigint;

  constructor(
    node: Node,
    ending: Ending & { readonly call: ReadCall },
    options: streams.ReadReq.Options,
    fault: ReadFault | undefined,
  ) {
    super(node, ending, fault);
    const filter = options.getFilter();
    this.matches = filterOf(options);
    this.window = filter?.hasMax() ? filter.getMax() : filter ? pageSize : Infinity;
    this.interval = filter ? filter.getCheckpointintervalmultiplier() * this.window : Infinity;
    this.seen = this.liveAfter = node.events.head().commit;
    this.reached = startOf(options, node.events.head());
  }

  protected override atEnd(): boolean {
    return compare(this.reached, this.node.events.head()) >= 0;
  }

  protected override async catchUp(): Promise<void> {
    let page = this.readPage(compare(this.reached, beforeAll) > 0 ? this.reached : begin);
    let considered = 0;
    while (!this.isOver) {
      for (const event of page.events) {
        if (compare(placeOf(event), this.reached) > 0) await this.sendAndReach(event);
      }
      considered += page.considered;
      this.reachPage(page);
      if (page.reachedEnd) {
        await this.sendCheckpoint(this.reached);
        break;
      }
      if (considered >= this.interval) {
        considered %= this.interval;
        await this.sendCheckpoint(this.reached);
      }
      page = this.readPage(page.next);
    }
    this.seen = this.reached.commit - 1n; // later events that did not match may still be due a checkpoint
  }

  protected override async next(): Promise<'more' | 'none' | 'too_many'> {
    const log = this.node.events;
    const index = log.indexOf(this.seen + 1n);
    const event = log.all[index];
    if (!event) return 'none';
    const wanted = (later: StoredEvent) => this.matches(later) && compare(placeOf(later), this.reached) > 0;
    if (log.all.slice(index).filter(wanted).length > pageSize) return 'too_many';
    this.seen = event.position;
    if (wanted(event)) await this.sendAndReach(event);
    const counted = index + 1 - log.indexOf(this.liveAfter + 1n);
    if (counted > 0 && counted % this.interval === 0 && compare(placeOf(event), this.reached) >= 0) {
      this.reached = placeOf(event);
      await this.sendCheckpoint(this.reached);
    }
    return 'more';
  }

  protected override async leaveLive(): Promise<void> {
    await this.sendCheckpoint(this.reached);
  }

  private async sendAndReach(event: StoredEvent): Promise<void> {
    await this.sendEvent(event);
    this.reached = placeOf(event);
  }

  /** Where no event was sent, the start of the page is reached, if something was read there. */
  private reachPage({ start, next, reachedEnd }: Page): void {
    const isRead = this.node.checkpointsAhead || compare(start, next) < 0;
    if (isRead && compare(this.reached, start) < 0) this.reached = start;
    if (reachedEnd && compare(this.reached, begin) < 0) this.reached = begin;
  }

  private async sendCheckpoint(place: Place): Promise<void> {
    if (this.interval === Infinity || compare(place, this.lastCheckpoint) <= 0) return;
    this.lastCheckpoint = place;
    await this.send(messages.checkpoint(place));
  }

  /** Looks at the events from a place on until so many match or so many were looked at. */
  private readPage(start: Place): Page {
    const { events: log } = this.node;
    let index = log.indexOf(start.commit);
    const first = log.all[index];
    if (first && !log.hasRecordAt(start.commit)) throw invalidPosition();
    if (first && compare(placeOf(first), start) < 0) index += 1;
    const [events, from]: [StoredEvent[], number] = [[], index];
    while (events.length < pageSize && index - from < this.window && index < log.all.length) {
      const event = log.all[index++];
      if (event && this.matches(event)) events.push(event);
    }
    const full = events.length === pageSize || index - from === this.window;
    const next = index === from ? start : { commit: log.all[index]?.position ?? log.end, prepare: 0n };
    return { start, events, considered: index - from, next, reachedEnd: !full };
  }
}

const begin: Place = { commit: 0n, prepare: 0n };

function startOf(options: streams.ReadReq.Options, head: Place): Place {
  const position = options.getAll()?.getPosition();
  if (options.getAll()?.hasEnd()) return head;
  if (!position) return beforeAll;
  return { commit: BigInt(position.getCommitPosition()), prepare: BigInt(position.getPreparePosition()) };
}
