import type { Readable } from 'node:stream';
import { BACKWARDS, END, START, type AllStreamResolvedEvent, type ReadPosition, type ResolvedEvent } from '@eventstore/db-client';
import { LogUnavailable } from '../errors.js';
import type { StoredEvent } from '../event-log.js';
import type { GuardedClient } from './client.js';
import type { Connection } from './connection.js';
import type { Ending } from './ending.js';
import { isNoStream, isNotLeader, isStuck, kindOf, readFailure } from './failures.js';
import { eventPosition, readFrom } from './positions.js';
import { Pull, type Call } from './pull.js';
import { storedEvent } from './stored-form.js';

type Read = AllStreamResolvedEvent | ResolvedEvent;

export interface AllRange {
  /** Exclusive. */
  readonly after: bigint;
  /** Inclusive. */
  readonly until: bigint;
  readonly prefix: string;
}

/** What lies after a position, as far as it was looked at. */
export interface Ahead {
  /** Of the first event of ours. */
  readonly ours: bigint | undefined;
  /** Up to here there is none of ours. */
  readonly seen: bigint;
}

/** Only a leader is certain to have what was just written. */
const fromLeader = { requiresLeader: true } as const;

const never = new AbortController().signal;

/** Reads streams and the whole log. All of it throws LogUnavailable and AccessDenied. */
export class Reader {
  /** @param answerMs how long the server may take for the next event; the client waits for ever */
  constructor(
    private readonly connection: Connection,
    private readonly closing: Ending,
    private readonly answerMs: number,
  ) {}

  /** @throws StreamTombstoned */
  async *stream(name: string, from: bigint, limit: number): AsyncGenerator<StoredEvent, void, undefined> {
    const maxCount = Math.min(limit, Number.MAX_SAFE_INTEGER);
    const read = (client: GuardedClient) => client.readStream(name, { ...fromLeader, fromRevision: from, maxCount });
    try {
      for await (const { event } of this.read(read)) {
        const stored = event && storedEvent(event);
        if (stored) yield stored;
      }
    } catch (error) {
      if (!isNoStream(error)) throw readFailure(error);
    }
  }

  /** Goes on after the last event until it reaches the end of the range, or nothing more comes: a call may end too soon. */
  async *all({ after, until, prefix }: AllRange): AsyncGenerator<StoredEvent, void, undefined> {
    let before: bigint | undefined;
    while (after < until && after !== before) {
      before = after;
      for await (const { position, event } of this.forwards(after)) {
        if (position > until) return;
        after = position;
        const stored = event.streamId.startsWith(prefix) ? storedEvent(event) : undefined;
        if (stored) yield stored;
      }
    }
  }

  /** Position of the last event of the log; -1 when it is empty. */
  head(): Promise<bigint> {
    return this.lastBefore(END);
  }

  /** When the server stored its last event, whoever wrote it. */
  async newest(): Promise<Date | undefined> {
    const read = (client: GuardedClient) =>
      client.readAll({ ...fromLeader, direction: BACKWARDS, fromPosition: END, maxCount: 1 });
    try {
      for await (const { event } of this.read(read)) return event?.created;
    } catch (error) {
      throw readFailure(error);
    }
    return undefined;
  }

  /** Position of the last event before a place in the log; -1 when there is none. */
  async lastBefore(fromPosition: ReadPosition): Promise<bigint> {
    if (fromPosition === START) return -1n;
    const read = (client: GuardedClient) => client.readAll({ ...fromLeader, direction: BACKWARDS, fromPosition, maxCount: 1 });
    try {
      for await (const { event } of this.read(read)) return eventPosition(event?.position) ?? -1n;
    } catch (error) {
      throw readFailure(error);
    }
    return -1n;
  }

  /** Looks at the next events, whoever wrote them, up to the first of ours or at most `limit`. */
  async ahead(after: bigint, prefix: string, limit = 1000): Promise<Ahead> {
    let seen = after;
    for await (const { position, event } of this.forwards(after, limit)) {
      if (event.streamId.startsWith(prefix) && storedEvent(event)) return { ours: position, seen };
      seen = position;
    }
    return { ours: undefined, seen };
  }

  private async *forwards(after: bigint, maxCount = Number.MAX_SAFE_INTEGER) {
    // From a position includes the event there.
    const read = (client: GuardedClient) => client.readAll({ ...fromLeader, fromPosition: readFrom(after), maxCount });
    try {
      for await (const { event } of this.read(read)) {
        const position = eventPosition(event?.position);
        if (event && position !== undefined && position > after) yield { event, position };
      }
    } catch (error) {
      throw readFailure(error);
    }
  }

  /** Once more when the server was not the leader: the client has connected to the one that is. */
  private async *read<R extends Read>(start: (client: GuardedClient) => StreamOf<R>): AsyncGenerator<R, void, undefined> {
    let begun = false;
    try {
      for await (const event of this.readOnce(start)) {
        begun = true;
        yield event;
      }
    } catch (error) {
      if (begun || !isNotLeader(error)) throw error;
      yield* this.readOnce(start);
    }
  }

  private async *readOnce<R extends Read>(start: (client: GuardedClient) => StreamOf<R>): AsyncGenerator<R, void, undefined> {
    const client = await this.connection.client();
    const pull = new Pull(callOf(start(client)), [this.closing, client.ending]);
    try {
      for (;;) {
        const event = await pull.next(this.answerMs, never);
        if (event === 'end') return;
        if (event === 'quiet') throw new LogUnavailable('the server does not answer');
        yield event;
      }
    } catch (error) {
      if (isStuck(error) && !this.closing.hasEnded) this.connection.renew(client, kindOf(error));
      throw error;
    } finally {
      pull.stop();
    }
  }
}

type StreamOf<R> = ReturnType<GuardedClient['readStream'] | GuardedClient['readAll']> & AsyncIterable<R>;

const callOf = <R>(stream: StreamOf<R>): Call<R> => ({ stream: stream as unknown as Readable, cancel: () => stream.cancel() });
