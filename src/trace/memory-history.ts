import { streamsOf } from '../../projections/event-refs/event-refs-queries.js';
import type { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { Database } from '../database/database.js';
import type { Codec } from '../event-log/codec.js';
import type { DomainEvent, RecordedEvent } from '../event-log/domain-event.js';
import type { EventLog, StoredEvent } from '../event-log/event-log.js';
import { parseStreamName } from '../event-log/stream-name.js';
import type { AsOf } from './as-of.js';

export interface History<Event extends DomainEvent> {
  /** In position order. */
  readonly events: RecordedEvent<Event>[];
  readonly completeTo: bigint;
}

/** The beginning of a history that was known at a moment of the past; all of it for now. */
export function knownThen<Event extends DomainEvent>(history: History<Event>, asOf: AsOf | undefined): History<Event> {
  if (!asOf) return history;
  const completeTo = asOf.position < history.completeTo ? asOf.position : history.completeTo;
  return { events: history.events.filter(({ position }) => position <= completeTo), completeTo };
}

/** Streams read side by side: one at a time, a procedure with a thousand runs would take a thousand round trips. */
const streamsAtOnce = 16;

/**
 * Reads a memory's history from the log. `event_refs` says only where to look; everything told comes from events read, and
 * a log that cannot be read fails the read: history is never made up.
 */
export class MemoryHistory {
  constructor(
    private readonly database: Database,
    private readonly log: EventLog,
    private readonly codec: Codec,
    private readonly engine: ProjectionEngine,
  ) {}

  /**
   * @param content false leaves what people wrote shut
   * @returns undefined when the team has no such memory
   * @throws LogUnavailable, DatabaseUnavailable, KeyUnavailable
   */
  async read<Event extends DomainEvent>(
    team: string,
    memory: string,
    { content }: { content: boolean },
  ): Promise<History<Event> | undefined> {
    // Asked before the references are read: what they hold is at least this.
    const { position: completeTo } = await this.engine.waitFor(0n, 0, ['event_refs']);
    const streams = await this.database.asTeam(team, (queries) => streamsOf(queries, { team, memory }), { snapshot: true });
    if (streams.length === 0) return undefined;
    const stored = await this.readStreams(
      streams.filter((stream) => parseStreamName(this.codec.streamPrefix, stream)?.team === team),
    );
    const known = stored.filter(({ position }) => position <= completeTo).sort((a, b) => (a.position < b.position ? -1 : 1));
    return { events: await this.codec.decode<Event>(known, { content }), completeTo };
  }

  private async readStreams(streams: readonly string[]): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for (let from = 0; from < streams.length; from += streamsAtOnce) {
      const read = await Promise.all(streams.slice(from, from + streamsAtOnce).map((stream) => this.readStream(stream)));
      events.push(...read.flat());
    }
    return events;
  }

  private async readStream(stream: string): Promise<StoredEvent[]> {
    const events: StoredEvent[] = [];
    for await (const event of this.log.readStream(stream)) events.push(event);
    return events;
  }
}
