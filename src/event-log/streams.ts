import { setTimeout as sleep } from 'node:timers/promises';
import type { Codec } from './codec.js';
import type { CommandContext } from './command-context.js';
import type { DomainEvent, RecordedEvent } from './domain-event.js';
import { isAppendOutcomeUnknown } from './errors.js';
import type { Append, Appended, EventLog, StoredEvent } from './event-log.js';
import { streamName, type StreamId } from './stream-name.js';

export interface LoadedStream<Event extends DomainEvent> {
  /** Full name, with the installation's prefix. */
  readonly name: string;
  readonly events: RecordedEvent<Event>[];
  readonly revision: bigint | 'no_stream';
  readonly lastHash: string | undefined;
}

/** How often an append of unknown outcome is sent again. */
const resends = 3;

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
   * @throws WrongExpectedRevision when someone else appended since; EventNotEncodable, KeyErased, AppendTooLarge,
   * AppendOutcomeUnknown, LogUnavailable, StreamTombstoned, AccessDenied, DatabaseUnavailable
   */
  async append<Event extends DomainEvent>(
    { name, revision, lastHash }: LoadedStream<Event>,
    events: readonly Event[],
    context: CommandContext,
    occurredAt?: Date,
  ): Promise<Appended> {
    const last = revision === 'no_stream' || lastHash === undefined ? undefined : { revision, hash: lastHash };
    const encoded = await this.codec.encode(name, last, events, context, occurredAt);
    return this.send({ stream: name, events: encoded, expected: revision });
  }

  private async send({ stream, events, expected }: Append, resent = 0): Promise<Appended> {
    try {
      return await this.log.append(stream, events, { expected });
    } catch (error) {
      if (!isAppendOutcomeUnknown(error) || resent === resends) throw error;
    }
    await sleep(100 * 2 ** resent * (0.5 + Math.random() / 2));
    return this.send({ stream, events, expected }, resent + 1);
  }
}
