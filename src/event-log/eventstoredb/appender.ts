import type { AppendResult, EventData } from '@eventstore/db-client';
import { AppendOutcomeUnknown, LogUnavailable } from '../errors.js';
import type { Append, Appended, StoredEvent } from '../event-log.js';
import type { GuardedClient } from './client.js';
import type { Connection } from './connection.js';
import type { Ending } from './ending.js';
import { appendFailure, isStuck, kindOf, readFailure } from './failures.js';
import { eventPosition } from './positions.js';
import type { Reader } from './reader.js';
import { proposedEvent } from './stored-form.js';

/**
 * Added to the time that the server is told to give up at. It is told a time of day, and one whose clock is ahead of ours
 * would refuse every append; its own limit, 2 s by default, holds in any case.
 */
const clockDifferenceMs = 10 * 60 * 1000;

/** How far one append came. */
interface Attempt {
  client: GuardedClient | undefined;
  sent: boolean;
}

/** Sends appends that have been checked, each with an outcome in due time. */
export class Appender {
  /** @param deadlineMs after which an append fails, come what may: the client would wait for a silent server for ever */
  constructor(
    private readonly connection: Connection,
    private readonly reader: Reader,
    private readonly deadlineMs: number,
  ) {}

  /** @param bytes of the append */
  async append(append: Append, bytes: number): Promise<Appended> {
    const events = append.events.map(proposedEvent);
    const attempt: Attempt = { client: undefined, sent: false };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(this.tooLate(attempt)), this.deadlineMs);
    });
    try {
      return await Promise.race([this.send(append, bytes, events, attempt), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async send(append: Append, bytes: number, events: EventData[], attempt: Attempt): Promise<Appended> {
    const client = await this.reach(attempt);
    attempt.sent = true;
    const options = {
      expectedRevision: append.expected,
      deadline: this.deadlineMs + clockDifferenceMs,
      requiresLeader: true,
    };
    let result: AppendResult;
    try {
      result = await unlessEnded(client.appendToStream(append.stream, events, options), [client.batch, client.ending]);
    } catch (error) {
      this.renewIfStuck(client, error);
      throw appendFailure(error, append, bytes);
    }
    return this.settle(append, result);
  }

  /** Asks a server before anything is sent, so that one that cannot be reached is known to have stored nothing. */
  private async reach(attempt: Attempt): Promise<GuardedClient> {
    const client = await this.connection.client();
    attempt.client = client;
    try {
      await unlessEnded(client.reach(), [client.ending]);
      return client;
    } catch (error) {
      this.renewIfStuck(client, error);
      throw readFailure(error);
    }
  }

  private renewIfStuck(client: GuardedClient, error: unknown): void {
    if (isStuck(error)) this.connection.renew(client, kindOf(error));
  }

  /** All that waits on this client waits for the same server, and nothing else would ever forget it. */
  private tooLate({ client, sent }: Attempt): Error {
    if (client) this.connection.renew(client, `no answer to an append in ${this.deadlineMs} ms`);
    return sent
      ? new AppendOutcomeUnknown(`the server did not answer in ${this.deadlineMs} ms`)
      : new LogUnavailable(`no server could be reached in ${this.deadlineMs} ms`);
  }

  /**
   * The result as the port promises it. A repeated append may be answered without its position, and an append to a deleted
   * stream goes on where the stream ended: then the log is asked where the events are.
   */
  private async settle(append: Append, { nextExpectedRevision, position }: AppendResult): Promise<Appended> {
    const revision = (append.expected === 'no_stream' ? -1n : append.expected) + BigInt(append.events.length);
    const known = eventPosition(position);
    if (nextExpectedRevision === revision && known !== undefined) return { revision, position: known };
    const last = append.events.at(-1);
    const stored = await this.readBack(append.stream, nextExpectedRevision);
    if (!stored || stored.id !== last?.id) throw new AppendOutcomeUnknown('what was appended could not be read back');
    return { revision: stored.revision, position: stored.position };
  }

  private async readBack(stream: string, revision: bigint): Promise<StoredEvent | undefined> {
    try {
      for await (const event of this.reader.stream(stream, revision, 1)) return event;
    } catch (error) {
      throw new AppendOutcomeUnknown('what was appended could not be read back', { cause: error });
    }
    return undefined;
  }
}

function unlessEnded<T>(work: Promise<T>, endings: readonly Ending[]): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const ended = () => reject(new AppendOutcomeUnknown('the stream of appends was ended'));
    const stops = endings.map((ending) => ending.onEnd(ended));
    work.then(resolve, reject).finally(() => stops.forEach((stop) => stop()));
  });
}
