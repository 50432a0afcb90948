import { type DomainEvent, isRedacted, type RecordedEvent } from '../event-log/domain-event.js';

/** One event as trace shows it. */
export interface TracedEvent {
  readonly event_id: string;
  readonly type: string;
  /** Kind and id of the memory whose stream holds it. */
  readonly kind: string;
  readonly id: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly recorded_at: Date;
  readonly occurred_at: Date | null;
  readonly actor: { readonly profile_id: string | null; readonly api_key_id: string | null };
  readonly correlation_id: string;
  readonly causation_id: string;
  /** Open fields. */
  readonly data: Readonly<Record<string, unknown>>;
  /** What a person wrote; null where the event has none, or the reader may not see it. */
  readonly content: Readonly<Record<string, unknown>> | null;
  /** Whether the content was erased. */
  readonly redacted: boolean;
}

/** History of one memory, replayed from the log. */
export interface Trace<State> {
  readonly kind: string;
  readonly id: string;
  /** After every event up to `completeTo`, whichever of them are on this page. */
  readonly state: State;
  readonly events: readonly TracedEvent[];
  /** Position to go on after; undefined on the last page. */
  readonly next: bigint | undefined;
  /** Every event up to this position is in the answer or on a page of it. */
  readonly completeTo: bigint;
}

export function tracedEvent(event: RecordedEvent): TracedEvent {
  const { data, metadata } = event;
  const { type, sealed, ...open } = data as DomainEvent & Record<string, unknown>;
  const readable = sealed !== undefined && !isRedacted(sealed);
  return {
    event_id: event.eventId,
    type,
    kind: event.kind,
    id: event.streamId,
    revision: event.revision,
    position: event.position,
    recorded_at: event.recordedAt,
    occurred_at: metadata.occurredAt ?? null,
    actor: { profile_id: metadata.profile ?? null, api_key_id: metadata.apiKey ?? null },
    correlation_id: metadata.correlationId,
    causation_id: metadata.causationId,
    data: open,
    content: readable ? { ...sealed } : null,
    redacted: sealed !== undefined && isRedacted(sealed),
  };
}

/** The events after `after`, at most `most`, and where to go on. */
export function page<Event extends DomainEvent>(
  events: readonly RecordedEvent<Event>[],
  { after, most }: { after: bigint; most: number },
): { shown: RecordedEvent<Event>[]; next: bigint | undefined } {
  const following = events.filter(({ position }) => position > after);
  const shown = following.slice(0, most);
  return { shown, next: following.length > most ? shown.at(-1)?.position : undefined };
}
