import type { DomainEvent, RecordedEvent } from '../../src/event-log/domain-event.js';
import { systemTeam } from '../../src/event-log/stream-name.js';
import { isUuid } from '../../src/uuid.js';
import { type Projection, projection, put, table } from '../engine/projection.js';

export type EventRefRow = {
  team_id: string;
  memory_id: string;
  position: bigint;
  stream: string;
  revision: bigint;
  type: string;
  recorded_at: Date;
};

/** Where in the log the events about a memory stand. Content-free, so it outlives what it points to. */
export const eventRefsTable = table<EventRefRow>({
  name: 'event_refs',
  columns: {
    team_id: 'uuid',
    memory_id: 'uuid',
    position: 'int8',
    stream: 'text',
    revision: 'int8',
    type: 'text',
    recorded_at: 'timestamptz',
  },
  key: ['team_id', 'memory_id', 'position'],
});

/** The memories an event is about: the one whose stream it stands in, the procedure that a run belongs to, what replaces evidence. */
export function memoryIdsOf({ streamId, data }: RecordedEvent): string[] {
  const { procedure_id, replacement_id } = data as DomainEvent & { procedure_id?: unknown; replacement_id?: unknown };
  return [...new Set([streamId, procedure_id, replacement_id].filter(isUuid))];
}

/** Tells trace where to read; everything that trace shows is then read from the log. */
export const eventRefs = (eventTypes: readonly string[], memoryIds: (event: RecordedEvent) => string[]): Projection =>
  projection({
    name: 'event_refs',
    version: 1,
    eventTypes,
    needsContent: false,
    tables: [eventRefsTable],
    load: () => [],
    changes: (event) => {
      if (event.team === systemTeam) return [];
      const { team: team_id, position, stream, revision, recordedAt: recorded_at, data } = event;
      return memoryIds(event).map((memory_id) =>
        put(eventRefsTable, { team_id, memory_id, position, stream, revision, type: data.type, recorded_at }),
      );
    },
  });
