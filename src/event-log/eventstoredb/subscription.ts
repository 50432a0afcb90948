import type { Readable } from 'node:stream';
import { streamNameFilter, type AllStreamResolvedEvent, type AllStreamSubscription, type Position } from '@eventstore/db-client';
import { isLogUnavailable, LogUnavailable } from '../errors.js';
import type { LogItem } from '../event-log.js';
import { unlessAborted } from '../postgres/wakes.js';
import type { GuardedClient } from './client.js';
import type { Connection } from './connection.js';
import type { Ending } from './ending.js';
import { isStuck, kindOf } from './failures.js';
import { checkpointPosition, eventPosition, readFrom } from './positions.js';
import { Pull } from './pull.js';
import type { Reader } from './reader.js';
import { storedEvent } from './stored-form.js';

export interface SubscriptionOptions {
  readonly after: bigint;
  readonly prefix: string;
  readonly signal: AbortSignal;
}

/** How long nothing may come, in milliseconds, before the log is looked at. */
export interface Patience {
  /** Until what was stored has come. */
  readonly catchingUpMs: number;
  /** From then on. */
  readonly liveMs: number;
}

/** Put into the stream of events by us, in its place: the client tells of it before the events that come before it are read. */
class Mark {
  /** @param checkpoint undefined for the word that the subscription has caught up */
  constructor(readonly checkpoint: Position | undefined) {}
}

/** Events that the server looks at before it tells how far it is, and at most in one step while it catches up. */
const window = 500;

/**
 * One subscription, from `after` on. The server's subscription brings the events. Beside it the log itself is looked at
 * whenever nothing came for a while: the server tells seldom how far it is, some versions never that it has caught up, and
 * a subscription that died in silence looks like one that has nothing to tell.
 */
export class Subscription {
  private seen: bigint;
  private stored = -1n;
  private caughtUp = false;
  /** An event of ours that stands in the log and has not come. */
  private owed: bigint | undefined;

  constructor(
    private readonly connection: Connection,
    private readonly reader: Reader,
    private readonly closing: Ending,
    private readonly patience: Patience,
    private readonly options: SubscriptionOptions,
  ) {
    this.seen = options.after;
  }

  /** Ends when the signal aborts. @throws LogUnavailable whatever else ends it */
  async *items(): AsyncGenerator<LogItem, void, undefined> {
    try {
      yield* this.begin();
    } catch (error) {
      if (isLogUnavailable(error)) throw error;
      throw new LogUnavailable(`the subscription failed: ${kindOf(error)}`, { cause: error });
    }
  }

  private async *begin(): AsyncGenerator<LogItem, void, undefined> {
    const { after, signal } = this.options;
    if (signal.aborted) return;
    // From an event that exists: where there is none, for one that was scavenged, the server would skip the next one.
    const places = await unlessAborted(Promise.all([this.reader.lastBefore(readFrom(after)), this.reader.head()]), signal);
    if (!places) return;
    const [start, head] = places;
    this.stored = head;
    const client = await this.connection.client();
    const pull = this.subscribe(client, start);
    try {
      yield* this.pulled(pull);
    } catch (error) {
      if (isStuck(error) && !this.closing.hasEnded) this.connection.renew(client, kindOf(error));
      throw error;
    } finally {
      pull.stop();
    }
  }

  private async *pulled(pull: Pull<AllStreamResolvedEvent | Mark>): AsyncGenerator<LogItem, void, undefined> {
    for (let items: LogItem[] | undefined = this.catchUp(); items; items = await this.next(pull)) {
      for (const item of items) {
        if (this.options.signal.aborted) return;
        yield item;
      }
    }
  }

  private subscribe(client: GuardedClient, start: bigint): Pull<AllStreamResolvedEvent | Mark> {
    const filter = streamNameFilter({
      prefixes: [this.options.prefix],
      maxSearchWindow: window,
      checkpointInterval: 1,
      checkpointReached: (subscription, position) => put(subscription, new Mark(position)),
    });
    const stream = client.subscribeToAll({ fromPosition: readFrom(start), filter, requiresLeader: true });
    const pull = new Pull<AllStreamResolvedEvent | Mark>(
      { stream: stream as unknown as Readable, cancel: () => stream.unsubscribe() },
      [this.closing, client.ending],
    );
    stream.on('caughtUp', () => put(stream, new Mark(undefined)));
    return pull;
  }

  /** Undefined when the signal has aborted. */
  private async next(pull: Pull<AllStreamResolvedEvent | Mark>): Promise<LogItem[] | undefined> {
    const { signal } = this.options;
    const { catchingUpMs, liveMs } = this.patience;
    const quietMs = this.caughtUp || this.owed !== undefined ? liveMs : catchingUpMs;
    const got = await pull.next(quietMs, signal);
    if (signal.aborted) return undefined;
    if (got === 'end') throw new LogUnavailable('the server ended the subscription');
    if (got === 'quiet') return unlessAborted(this.look(), signal);
    if (got instanceof Mark) return unlessAborted(this.mark(got), signal);
    return this.event(got);
  }

  private async mark({ checkpoint }: Mark): Promise<LogItem[]> {
    if (!checkpoint) return this.advance(this.stored);
    if (checkpoint.commit <= this.seen) return [];
    return this.advance(checkpointPosition(checkpoint) ?? (await this.reader.lastBefore(checkpoint)));
  }

  private event({ event }: AllStreamResolvedEvent): LogItem[] {
    const position = eventPosition(event?.position);
    if (!event || position === undefined || position <= this.seen) return [];
    const stored = storedEvent(event);
    if (!stored) return this.advance(position);
    this.seen = position;
    return [{ kind: 'event', event: stored }, ...this.catchUp()];
  }

  private advance(seen: bigint): LogItem[] {
    if (seen <= this.seen) return this.catchUp();
    this.seen = seen;
    const caughtUp = this.catchUp();
    return caughtUp.length > 0 ? caughtUp : [{ kind: 'checkpoint', position: seen }];
  }

  private catchUp(): LogItem[] {
    if (this.caughtUp || this.seen < this.stored) return [];
    this.caughtUp = true;
    return [{ kind: 'caught_up', position: this.seen }];
  }

  /** @throws LogUnavailable when an event that an earlier look found still has not come */
  private async look(): Promise<LogItem[]> {
    if (this.owed !== undefined && this.owed > this.seen) throw new LogUnavailable('the subscription fell silent');
    const { ours, seen } = await this.reader.ahead(this.seen, this.options.prefix);
    this.owed = ours;
    return this.advance(seen);
  }
}

function put(subscription: AllStreamSubscription, mark: Mark): void {
  if (!subscription.destroyed) subscription.push(mark);
}
