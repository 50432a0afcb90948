import type { DomainEvent, RecordedEvent } from '../../src/event-log/domain-event.js';

/** A decoded event as if it had been read from the log at `position`, in a stream of its own. */
export const recorded = <Event extends DomainEvent>(
  data: Event,
  position: bigint,
  team = '00000000-0000-4000-8000-00000000000a',
): RecordedEvent<Event> => ({
  stream: `test_thing-${team}_${position}`,
  team,
  kind: 'thing',
  streamId: String(position),
  revision: 0n,
  position,
  recordedAt: new Date(Number(position) * 1000),
  eventId: `00000000-0000-4000-8000-${String(position).padStart(12, '0')}`,
  data,
  metadata: {
    correlationId: '',
    causationId: '',
    causationDepth: 0,
    team,
    profile: undefined,
    apiKey: undefined,
    schemaVersion: 1,
    occurredAt: undefined,
    previousHash: '',
    hash: '',
  },
});
