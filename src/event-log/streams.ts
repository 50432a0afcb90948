import { setTimeout as sleep } from 'node:timers/promises';
import type { Codec, Unencoded } from './codec.js';
import type { CommandContext } from './command-context.js';
import type { DomainEvent, RecordedEvent } from './domain-event.js';
import { isAppendOutcomeUnknown, isLogUnavailable, WrongExpectedRevision, type AppendOutcomeUnknown } from './errors.js';
import { storedHash } from './event-metadata.js';
import type { Append, Appended, AppendOutcome, EventLog, StoredEvent } from './event-log.js';
import { streamName, type StreamId } from './stream-name.js';

export interface LoadedStream<Event extends DomainEvent> {
  /** Full name, with the installation's prefix. */
  readonly name: string;
  readonly events: RecordedEvent<Event>[];
  readonly revision: bigint | 'no_stream';
  readonly lastHash: string | undefined;
}

/** One of many appends: events after what was loaded of one stream. */
export interface StreamAppend<Event extends DomainEvent = DomainEvent> {
  readonly stream: LoadedStream<Event>;
  readonly events: readonly Event[];
  readonly context: CommandContext;
  readonly occurredAt?: Date;
}

/** Longest waits before an append of unknown outcome is sent again, in milliseconds: about as long as a server takes to come back. */
const resendAfterMs = [100, 400, 1600];

/** Streams of decoded events. */
export class Streams {
  constructor(
    private readonly log: EventLog,
    private readonly codec: Codec,
  ) {}

  /** All events of a stream, with their content. @throws KeyUnavailable, LogUnavailable, DatabaseUnavailable */
  async load<Event extends DomainEvent>(id: StreamId): Promise<LoadedStream<Event>> {
    const name = streamName(this.codec.streamPrefix, id);
    const stored: StoredEvent[] = [];
    for await (const event of this.log.readStream(name)) stored.push(event);
    const events = await this.codec.decode<Event>(stored);
    const last = events.at(-1);
    return { name, events, revision: last?.revision ?? 'no_stream', lastHash: last?.metadata.hash };
  }

  /**
   * Appends after what was loaded. An append of unknown outcome is sent again unchanged, up to three times.
   *
   * @throws WrongExpectedRevision when someone else appended since, be it another run of the same command; EventNotEncodable, KeyErased, AppendTooLarge,
   * AppendOutcomeUnknown, LogUnavailable, StreamTombstoned, AccessDenied, DatabaseUnavailable
   */
  async append<Event extends DomainEvent>(
    stream: LoadedStream<Event>,
    events: readonly Event[],
    context: CommandContext,
    occurredAt?: Date,
  ): Promise<Appended> {
    const { last } = unencoded({ stream, events, context });
    const encoded = await this.codec.encode(stream.name, last, events, context, occurredAt);
    const append = { stream: stream.name, events: encoded, expected: stream.revision };
    const appended = await this.send(append);
    await this.expectOurs(append, appended);
    return appended;
  }

  /**
   * The same for many streams at once, each for itself: what one of them throws is its outcome, and stops no other.
   *
   * @param appends at most one a stream
   */
  async appendMany<Event extends DomainEvent>(appends: readonly StreamAppend<Event>[]): Promise<AppendOutcome[]> {
    const encoded = await this.codec.encodeMany(appends.map(unencoded));
    const ready = encoded.flatMap((events, index) => {
      const stream = appends[index]?.stream;
      return events instanceof Error || !stream ? [] : [{ stream: stream.name, events, expected: stream.revision }];
    });
    const sent = await this.log.appendMany(ready);
    const outcomes = await Promise.all(sent.map((outcome, index) => this.confirmed(ready[index], outcome)));
    let next = 0;
    return encoded.map((events) => {
      if (events instanceof Error) return { error: events };
      return outcomes[next++] ?? { error: new Error('the log gave no outcome') };
    });
  }

  /** What became of one of many appends, which is sent again when its outcome is unknown. */
  private async confirmed(append: Append | undefined, outcome: AppendOutcome): Promise<AppendOutcome> {
    if (!append) return outcome;
    const result = await settled(this.confirm(append, outcome));
    return 'done' in result ? { appended: result.done } : result;
  }

  private async confirm(append: Append, outcome: AppendOutcome): Promise<Appended> {
    let appended: Appended;
    if ('appended' in outcome) appended = outcome.appended;
    else if (isAppendOutcomeUnknown(outcome.error)) appended = await this.sendAgain(append, outcome.error);
    else throw outcome.error;
    await this.expectOurs(append, appended);
    return appended;
  }

  /**
   * Two runs of one command at the same moment send events with the same ids to the same place. The log takes the second
   * for a repetition of the first and reports success, though it stored the first one's events, and those may differ.
   */
  private async expectOurs({ stream, events, expected }: Append, { revision }: Appended): Promise<void> {
    const stored = await this.readEvent(stream, revision);
    const ours = events.at(-1);
    if (stored && ours && storedHash(stored.metadata) !== storedHash(ours.metadata))
      throw new WrongExpectedRevision(stream, expected, revision);
  }

  /** Undefined when the log cannot be read now: what was appended stands, and must not be reported as failed. */
  private async readEvent(stream: string, revision: bigint): Promise<StoredEvent | undefined> {
    try {
      for await (const event of this.log.readStream(stream, { from: revision, limit: 1 })) return event;
    } catch (error) {
      if (!isLogUnavailable(error)) throw error;
    }
    return undefined;
  }

  private async send(append: Append): Promise<Appended> {
    try {
      return await this.sendOnce(append);
    } catch (error) {
      if (!isAppendOutcomeUnknown(error)) throw error;
      return this.sendAgain(append, error);
    }
  }

  /** Until the log says what became of it. A log that cannot be reached now says nothing, so the outcome stays unknown. */
  private async sendAgain(append: Append, unknown: AppendOutcomeUnknown): Promise<Appended> {
    for (const waitMs of resendAfterMs) {
      await sleep(waitMs * (0.5 + Math.random() / 2));
      try {
        return await this.sendOnce(append);
      } catch (error) {
        if (!isAppendOutcomeUnknown(error) && !isLogUnavailable(error)) throw error;
      }
    }
    throw unknown;
  }

  private sendOnce({ stream, events, expected }: Append): Promise<Appended> {
    return this.log.append(stream, events, { expected });
  }
}

function unencoded<Event extends DomainEvent>({ stream, ...append }: StreamAppend<Event>): Unencoded {
  const { name, revision, lastHash } = stream;
  const last = revision === 'no_stream' || lastHash === undefined ? undefined : { revision, hash: lastHash };
  return { ...append, stream: name, last };
}

type Settled<Result> = { readonly done: Result } | { readonly error: Error };

const settled = <Result>(work: Promise<Result>): Promise<Settled<Result>> =>
  work.then(
    (done) => ({ done }),
    (error: unknown) => ({ error: error instanceof Error ? error : new Error(String(error)) }),
  );
