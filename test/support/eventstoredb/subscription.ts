import { randomUUID } from 'node:crypto';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { type ReadFault } from './faults.js';
import { filterOf } from './filter.js';
import * as messages from './messages.js';
import { disturb, type Node } from './node.js';
import { type ReadCall } from './read-service.js';
import * as errors from './rpc-errors.js';
import { type StoredEvent } from './stored-events.js';

const pageSize = 32;

/**
 * A subscription to a stream or to all: `confirmation`, stored events in pages, `caught_up`, then each event as it is
 * written. With a filter, a `checkpoint` after so many events were looked at, whether they matched or not.
 */
export class Subscription {
  private next: number;
  private considered = 0;
  private sent = 0;
  private silent = false;
  private behind = false;
  private over = false;
  private wake: () => void = () => undefined;
  private readonly matches: (event: StoredEvent) => boolean;
  private readonly window: number;
  private readonly interval: number;

  constructor(
    private readonly node: Node,
    private readonly call: ReadCall,
    options: streams.ReadReq.Options,
    stream: string,
    private readonly fault: ReadFault | undefined,
  ) {
    const filter = options.getFilter();
    this.window = filter?.hasMax() ? filter.getMax() : pageSize;
    this.interval = filter ? filter.getCheckpointintervalmultiplier() * this.window : Infinity;
    const wanted = filterOf(options);
    const after = revisionAfter(options);
    this.matches = options.hasAll() ? wanted : (event) => event.stream === stream && event.revision > after;
    if (!options.hasAll() && node.events.stream(stream) === 'deleted') throw errors.streamDeleted(stream);
    this.next = startOf(node, options);
  }

  /** Ends when the client cancels or the server ends it. */
  async run(): Promise<void> {
    const stopListening = this.node.events.onWrite(() => this.wake());
    this.call.once('cancelled', () => this.finish());
    await this.send(messages.confirmation(randomUUID()));
    while (!this.over) {
      await this.catchUp();
      await this.send(messages.caughtUp());
      this.behind = false;
      await this.live();
    }
    stopListening();
  }

  /** Ends it with status OK. */
  end(): void {
    this.finish();
    this.call.end();
  }

  fail(error: errors.RpcError): void {
    this.finish();
    this.call.emit('error', error);
  }

  /** Sends nothing more, and does not end. */
  silence(): void {
    this.silent = true;
  }

  /** Says so, catches up and says that it has. */
  async fallBehind(): Promise<void> {
    await this.send(messages.fellBehind());
    this.behind = true;
    this.wake();
  }

  /** A page ends when so many events match or so many were looked at; one that reaches the end has no checkpoint. */
  private async catchUp(): Promise<void> {
    const { all } = this.node.events;
    while (!this.over && this.next < all.length) {
      let [looked, matched, position] = [0, 0, all[this.next]?.position ?? 0n];
      while (looked < this.window && matched < pageSize && this.next < all.length) {
        const event = all[this.next++];
        looked += 1;
        if (event && (await this.consider(event))) [matched, position] = [matched + 1, event.position];
      }
      this.considered += looked;
      if (this.next < all.length && this.considered >= this.interval) {
        this.considered %= this.interval;
        await this.send(messages.checkpoint(position));
      }
    }
  }

  private async live(): Promise<void> {
    const { all } = this.node.events;
    while (!this.over && !this.behind) {
      const event = all[this.next];
      if (!event) {
        await new Promise<void>((resolve) => (this.wake = resolve));
        continue;
      }
      this.next += 1;
      await this.consider(event);
      this.considered += 1;
      if (this.considered >= this.interval) {
        this.considered = 0;
        await this.send(messages.checkpoint(event.position));
      }
    }
  }

  private async consider(event: StoredEvent): Promise<boolean> {
    if (!this.matches(event)) return false;
    if (this.fault && this.sent >= (this.fault.afterEvents ?? 0)) this.strike(this.fault);
    await this.send(messages.readEvent(event));
    this.sent += 1;
    return true;
  }

  private strike(fault: ReadFault): void {
    if (fault.kind === 'silence') this.silence();
    else disturb(this.node, { call: this.call, fail: (error) => this.fail(error), end: () => this.end() }, fault)?.();
  }

  private async send(response: streams.ReadResp): Promise<void> {
    if (this.over || this.silent) return;
    if (this.call.write(response)) return;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      this.call.once('drain', resolve);
    });
  }

  private finish(): void {
    this.over = true;
    this.wake();
  }
}

/** A subscription begins after the place it names. */
function startOf(node: Node, options: streams.ReadReq.Options): number {
  const { all } = node.events;
  if (options.getStream()?.hasEnd() || options.getAll()?.hasEnd()) return all.length;
  const position = options.getAll()?.getPosition();
  return position ? node.events.indexOf(BigInt(position.getCommitPosition()) + 1n) : 0;
}

function revisionAfter(options: streams.ReadReq.Options): bigint {
  const place = options.getStream();
  return place?.hasRevision() ? BigInt(place.getRevision()) : -1n;
}
