import type { CommandContext } from '../../src/event-log/command-context.js';
import type { Sealed } from '../../src/event-log/domain-event.js';
import { EventCatalogue, type EventDefinitions } from '../../src/event-log/event-catalogue.js';
import type { NewEvent, StoredEvent } from '../../src/event-log/event-log.js';
import { newCommandId } from '../../src/event-log/ids.js';
import { streamName } from '../../src/event-log/stream-name.js';

/** A made-up kind of memory, for tests of what is the same for all kinds. */
export type NoteEvent =
  | {
      readonly type: 'NoteTaken';
      readonly note_id: string;
      readonly pages?: number;
      readonly sealed: Sealed<{ readonly text: string }>;
    }
  | { readonly type: 'NoteFiled'; readonly note_id: string };

export const noteEvents: EventDefinitions<NoteEvent> = {
  NoteTaken: { version: 1, keyOwner: ({ note_id }) => note_id },
  NoteFiled: { version: 1 },
};

export const noteCatalogue = new EventCatalogue([noteEvents]);

export const prefix = 'mneme_';
export const team = '0b5c0000-0000-4000-8000-000000000001';
export const noteStream = (id: string) => ({ kind: 'note', team, id });
export const noteStreamName = (id: string): string => streamName(prefix, noteStream(id));

export const noteTaken = (note_id: string, text: string): NoteEvent => ({ type: 'NoteTaken', note_id, sealed: { text } });
export const noteFiled = (note_id: string): NoteEvent => ({ type: 'NoteFiled', note_id });

export const contextOf = (commandId: string = newCommandId()): CommandContext => ({
  commandId,
  correlationId: '22222222-2222-4222-8222-222222222222',
  team,
});

/** What a log would give back for events appended to an empty stream. */
export const storedAs = (stream: string, events: readonly NewEvent[], after = -1n): StoredEvent[] =>
  events.map((event, index) => ({
    ...event,
    stream,
    revision: after + 1n + BigInt(index),
    position: 100n + BigInt(index),
    recordedAt: new Date('2026-01-02T03:04:05.678Z'),
  }));
