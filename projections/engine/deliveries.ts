import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { isPassing } from './failures.js';
import type { EventDecoder } from './options.js';
import type { Projection } from './projection.js';

/** The events of a batch, decoded once for all projections. */
export interface Deliveries {
  readonly events: readonly StoredEvent[];
  /** By position; an error where the event cannot be decoded. */
  readonly open: ReadonlyMap<bigint, RecordedEvent | Error>;
  readonly full: ReadonlyMap<bigint, RecordedEvent | Error>;
}

/** What one projection gets of a batch. */
export interface Delivered {
  readonly events: readonly RecordedEvent[];
  /** The first event it wants that cannot be decoded; `events` ends before it. */
  readonly undecodable: { readonly event: StoredEvent; readonly error: Error } | undefined;
}

/**
 * Decodes what these projections want. Boxes are opened only for events that a projection which needs content wants.
 *
 * @throws KeyUnavailable, DatabaseUnavailable; what is wrong with an event itself is kept with the event
 */
export async function decodeFor(
  projections: readonly Projection[],
  decoder: EventDecoder,
  events: readonly StoredEvent[],
): Promise<Deliveries> {
  const wantedBy = (some: readonly Projection[]): StoredEvent[] => {
    const types = new Set<string>(some.flatMap(({ eventTypes }) => eventTypes));
    return events.filter(({ type }) => types.has(type));
  };
  const full = await decodeEach(decoder, wantedBy(projections.filter(({ needsContent }) => needsContent)), true);
  const open = new Map<bigint, RecordedEvent | Error>();
  const shut: StoredEvent[] = [];
  for (const event of wantedBy(projections.filter(({ needsContent }) => !needsContent))) {
    const opened = full.get(event.position);
    if (opened && !(opened instanceof Error)) open.set(event.position, withoutContent(opened));
    else shut.push(event);
  }
  for (const [position, event] of await decodeEach(decoder, shut, false)) open.set(position, event);
  return { events, open, full };
}

export function deliveredTo(projection: Projection, { events, open, full }: Deliveries): Delivered {
  const decoded = projection.needsContent ? full : open;
  const types = new Set<string>(projection.eventTypes);
  const delivered: RecordedEvent[] = [];
  for (const event of events) {
    if (!types.has(event.type)) continue;
    const recorded = decoded.get(event.position);
    if (!recorded || recorded instanceof Error)
      return { events: delivered, undecodable: { event, error: recorded ?? new Error('not decoded') } };
    delivered.push(recorded);
  }
  return { events: delivered, undecodable: undefined };
}

/** All at once, because keys are fetched with one query; halves of a batch that cannot be decoded until the culprits stand alone. */
async function decodeEach(
  decoder: EventDecoder,
  events: readonly StoredEvent[],
  content: boolean,
): Promise<Map<bigint, RecordedEvent | Error>> {
  if (events.length === 0) return new Map();
  try {
    const decoded = await decoder.decode(events, { content });
    return new Map(decoded.map((event) => [event.position, event]));
  } catch (error) {
    if (isPassing(error)) throw error;
    const [only] = events;
    if (only && events.length === 1)
      return new Map([[only.position, error instanceof Error ? error : new Error('an event that cannot be decoded')]]);
    const middle = Math.ceil(events.length / 2);
    const first = await decodeEach(decoder, events.slice(0, middle), content);
    const second = await decodeEach(decoder, events.slice(middle), content);
    return new Map([...first, ...second]);
  }
}

function withoutContent(event: RecordedEvent): RecordedEvent {
  const data = { ...event.data };
  delete (data as { sealed?: unknown }).sealed;
  return { ...event, data };
}
