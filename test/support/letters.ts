import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { EventCatalogue, type EventDefinitions } from '../../src/event-log/event-catalogue.js';
import type { StreamId } from '../../src/event-log/stream-name.js';
import { reactor } from '../../src/reactors/reactor.js';

/** A made-up domain for tests of reactors: letters that want an answer in time. */
export type LetterEvent =
  | { readonly type: 'LetterSent'; readonly letter: string; readonly answer_by: string }
  | { readonly type: 'LetterAnswered'; readonly letter: string }
  | { readonly type: 'LetterErased'; readonly letter: string }
  | { readonly type: 'ReminderSent'; readonly letter: string; readonly due: string }
  | { readonly type: 'CopyFiled'; readonly letter: string }
  | { readonly type: 'Called'; readonly canyon: string };

export const letterEvents: EventDefinitions<LetterEvent> = {
  LetterSent: { version: 1 },
  LetterAnswered: { version: 1 },
  LetterErased: { version: 1 },
  ReminderSent: { version: 1 },
  CopyFiled: { version: 1 },
  Called: { version: 1 },
};

export const letterCatalogue = new EventCatalogue([letterEvents]);

export const letterTeams = ['0b5c0000-0000-4000-8000-000000000001', '0b5c0000-0000-4000-8000-000000000002'] as const;
export const letterId = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
export const letterStream = (team: string, id: string): StreamId => ({ kind: 'letter', team, id });
export const copyStream = (team: string, id: string): StreamId => ({ kind: 'copy', team, id });
export const canyonStream = (team: string, id: string): StreamId => ({ kind: 'canyon', team, id });

const has = (events: readonly RecordedEvent[], ...types: LetterEvent['type'][]): boolean =>
  events.some(({ data }) => (types as readonly string[]).includes(data.type));

type Written = Extract<LetterEvent, { letter: string }>;

/** Reminds of a letter that was not answered in time, and again a day later, until it was; at most three times. */
export const reminders = reactor<Written, undefined, { readonly letter: string; readonly due: Date }>({
  name: 'reminders',
  eventTypes: ['LetterSent', 'LetterAnswered'],
  needsContent: false,
  readModels: [],
  facts: () => Promise.resolve(undefined),
  react: ({ data }) => {
    if (data.type === 'LetterAnswered') return [{ do: 'cancel_timer', key: data.letter }];
    if (data.type !== 'LetterSent') return [];
    return [{ do: 'set_timer', key: data.letter, memory: data.letter, dueAt: new Date(data.answer_by) }];
  },
  due: ({ team, key: letter, dueAt }) => [
    { do: 'run', stream: letterStream(team, letter), order: { letter, due: dueAt } },
    { do: 'set_timer', key: letter, memory: letter, dueAt: new Date(dueAt.getTime() + 86_400_000) },
  ],
  decide: ({ letter, due }, events) => {
    if (has(events, 'LetterAnswered', 'LetterErased')) return { refused: 'settled' };
    if (events.filter(({ data }) => data.type === 'ReminderSent').length >= 3) return [];
    return [{ type: 'ReminderSent', letter, due: due.toISOString() } as const];
  },
});

/** Files a copy of every letter, in a stream of its own. */
export const copies = reactor<Written, undefined, { readonly letter: string }>({
  name: 'copies',
  eventTypes: ['LetterSent'],
  needsContent: false,
  readModels: [],
  facts: () => Promise.resolve(undefined),
  react: ({ team, data: { letter } }) => [{ do: 'run', stream: copyStream(team, letter), order: { letter } }],
  due: () => [],
  decide: ({ letter }) => [{ type: 'CopyFiled', letter } as const],
});

type Call = Extract<LetterEvent, { type: 'Called' }>;

/** Answers every call with another one: for ever, were it not stopped. */
export const echo = reactor<Call, undefined, { readonly canyon: string }>({
  name: 'echo',
  eventTypes: ['Called'],
  needsContent: false,
  readModels: [],
  facts: () => Promise.resolve(undefined),
  react: ({ team, data: { canyon } }) => [{ do: 'run', stream: canyonStream(team, canyon), order: { canyon } }],
  due: () => [],
  decide: ({ canyon }) => [{ type: 'Called', canyon } as const],
});
