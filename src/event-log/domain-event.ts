/**
 * Events as slices see them: a discriminated union of plain objects with a `type`.
 *
 * Open fields (ids, states, numbers, times) stay readable in the log for ever. Everything a person could have written
 * travels in `sealed`, encrypted under the data key of the memory that owns it, so that destroying the key erases it.
 */
export interface DomainEvent {
  readonly type: string;
  readonly sealed?: Sealed<object>;
}

/** Content of an event: readable, or gone because its key was destroyed. */
export type Sealed<Content> = Content | Redacted;

/** What stands where content was, after the data key of its owner was destroyed. */
export interface Redacted {
  readonly redacted: true;
}

export const redacted: Redacted = { redacted: true };

export const isRedacted = (content: object): content is Redacted => 'redacted' in content && content.redacted === true;

/** A decoded event with where and when it stands in the log. */
export interface RecordedEvent<Event extends DomainEvent = DomainEvent> {
  readonly stream: string;
  /** Team of the stream; `system` for streams without one. */
  readonly team: string;
  /** Kind of the stream, for example `procedure`. */
  readonly kind: string;
  /** Id of the stream within kind and team: the memory's id. */
  readonly streamId: string;
  readonly revision: bigint;
  readonly position: bigint;
  readonly recordedAt: Date;
  readonly eventId: string;
  readonly data: Event;
  readonly metadata: EventMetadata;
}

/** Who caused an event, and why. Never holds content. */
export interface EventMetadata {
  readonly correlationId: string;
  /** Id of the command, or the derived id of a reactor's cause. */
  readonly causationId: string;
  /** Of the request that the command came with, see `CommandContext`; undefined where none was kept. */
  readonly fingerprint?: string | undefined;
  readonly causationDepth: number;
  readonly team: string;
  /** Author of the event; undefined for the system itself. */
  readonly profile: string | undefined;
  readonly apiKey: string | undefined;
  /** Version of the event's shape when it was written. */
  readonly schemaVersion: number;
  /** When it happened in the world, when that was said; recorded time is the log's. */
  readonly occurredAt: Date | undefined;
  /** Hash of the event before it in its stream; 64 zeros for the first. */
  readonly previousHash: string;
  readonly hash: string;
}
