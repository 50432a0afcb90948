import { randomUUID } from 'node:crypto';
import type streams from '@eventstore/db-client/generated/streams_pb.js';
import { type OpenCallFault, type ReadFault } from './faults.js';
import * as messages from './messages.js';
import { disturbance, type Ending, type Node } from './node.js';
import { drained, type ReadCall } from './read-call.js';
import { RpcError } from './rpc-errors.js';
import { type StoredEvent } from './stored-events.js';

/** Events a page holds at most, and live ones the server keeps for a subscriber that does not take them. */
export const pageSize = 32;

/** `confirmation`, then stored events until the end is reached, `caught_up`, then each event as it is written. */
export abstract class Subscription {
  private sentEvents = 0;
  private silent = false;
  private over = false;
  private toFallBehind = false;
  private wake: () => void = () => undefined;

  constructor(
    protected readonly node: Node,
    private readonly ending: Ending & { readonly call: ReadCall },
    private readonly fault: ReadFault | undefined,
  ) {}

  /** Ends when the client cancels it or the server ends it. */
  async run(): Promise<void> {
    const stopListening = this.node.events.onWrite(() => this.wake());
    const closed = this.node.faults.opened('subscribe', (fault) => this.befall(fault));
    this.ending.call.once('cancelled', () => this.stop()).once('close', () => this.stop());
    await this.send(messages.confirmation(randomUUID()));
    try {
      await this.goThrough();
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      this.ending.fail(error);
    }
    this.stop();
    stopListening();
    closed();
  }

  /** Whether the subscriber already has all there is when it begins. */
  protected abstract atEnd(): boolean;

  /** Sends what is stored. */
  protected abstract catchUp(): Promise<void>;

  /** Sends the next event that is written, or says that there is none yet, or that there are too many. */
  protected abstract next(): Promise<'more' | 'none' | 'too_many'>;

  /** Last words before it catches up again. */
  protected async leaveLive(): Promise<void> {
    // only a filtered subscription has checkpoints
  }

  protected async sendEvent(event: StoredEvent): Promise<void> {
    if (this.fault && this.sentEvents === this.fault.afterEvents) this.befall(this.fault);
    this.sentEvents += 1;
    await this.send(messages.readEvent(event));
  }

  protected async send(response: streams.ReadResp): Promise<void> {
    const { call } = this.ending;
    if (!this.isOver && !this.silent && !call.write(response)) await drained(call);
  }

  /** A getter, because it changes while a method waits. */
  protected get isOver(): boolean {
    return this.over;
  }

  private async goThrough(): Promise<void> {
    if (!this.atEnd()) await this.catchUp();
    while (!this.isOver) {
      if (this.node.tellsCaughtUp) await this.send(messages.caughtUp());
      if (!(await this.live())) return;
      await this.leaveLive();
      await this.catchUp();
    }
  }

  /** @returns whether it fell behind; otherwise it is over */
  private async live(): Promise<boolean> {
    while (!this.isOver) {
      if (this.toFallBehind) {
        this.toFallBehind = false;
        await this.send(messages.fellBehind());
        return true;
      }
      const next = await this.next();
      if (next === 'too_many') return true;
      if (next === 'none') await new Promise<void>((resolve) => (this.wake = resolve));
    }
    return false;
  }

  private befall({ kind }: OpenCallFault | ReadFault): void {
    if (kind === 'silence') this.silent = true;
    else if (kind === 'fall_behind') this.toFallBehind = true;
    else {
      this.over = true;
      disturbance(this.node, this.ending, kind)?.();
    }
    this.wake();
  }

  private stop(): void {
    this.over = true;
    this.wake();
  }
}
