import { randomUUID } from 'node:crypto';
import { erase, lookup, projection, put, remove, table, type Change } from '../../projections/engine/projection.js';
import { Codec } from '../../src/event-log/codec.js';
import { isRedacted, type Sealed } from '../../src/event-log/domain-event.js';
import { EventCatalogue, type EventDefinitions } from '../../src/event-log/event-catalogue.js';
import type { Append, EventLog } from '../../src/event-log/event-log.js';
import type { ChainLink } from '../../src/event-log/hash-chain.js';
import { streamName } from '../../src/event-log/stream-name.js';
import { FixedKeys } from './fixed-keys.js';

/** A made-up domain for tests of what carries any domain: a library's loans. */
export type LoanEvent =
  | { type: 'BookLent'; loan_id: string; reader: string; due: string; sealed: Sealed<{ note: string }> }
  | { type: 'LoanExtended'; loan_id: string; due: string }
  | { type: 'BookReturned'; loan_id: string }
  | { type: 'LoanErased'; loan_id: string }
  | { type: 'ReaderLeft'; reader: string };

export const loanEvents: EventDefinitions<LoanEvent> = {
  BookLent: { version: 1, keyOwner: ({ loan_id }) => loan_id },
  LoanExtended: { version: 1 },
  BookReturned: { version: 1 },
  LoanErased: { version: 1 },
  ReaderLeft: { version: 1 },
};

export const libraryPrefix = 'library_';
export const teams = ['00000000-0000-4000-8000-00000000000a', '00000000-0000-4000-8000-00000000000b'] as const;

/** Something that happened to the `loan`-th loan of a team. */
export interface Fact {
  readonly team: string;
  readonly loan: number;
  readonly event: DistributiveOmit<LoanEvent, 'loan_id'>;
}
type DistributiveOmit<Event, Key extends PropertyKey> = Event extends unknown ? Omit<Event, Key> : never;

export const loanId = (loan: number): string => `00000000-0000-4000-8000-${String(loan).padStart(12, '0')}`;

export const lent = (loan: number, reader = 'ada', note = 'with care', team: string = teams[0]): Fact => ({
  team,
  loan,
  event: { type: 'BookLent', reader, due: '2026-05-01T00:00:00.000Z', sealed: { note } },
});
export const extended = (loan: number, due = '2026-06-01T00:00:00.000Z', team: string = teams[0]): Fact => ({
  team,
  loan,
  event: { type: 'LoanExtended', due },
});
export const returned = (loan: number, team: string = teams[0]): Fact => ({ team, loan, event: { type: 'BookReturned' } });
export const erased = (loan: number, team: string = teams[0]): Fact => ({ team, loan, event: { type: 'LoanErased' } });
export const left = (reader: string, team: string = teams[0]): Fact => ({ team, loan: 0, event: { type: 'ReaderLeft', reader } });

/** Writes facts to a log: one stream a loan, one a reader that left. */
export class Library {
  readonly keys = new FixedKeys();
  readonly codec = new Codec(new EventCatalogue([loanEvents]), this.keys, libraryPrefix);
  private readonly ends = new Map<string, ChainLink>();

  constructor(private readonly log: EventLog) {}

  /** @returns positions of the events, in the order of the facts */
  async record(...facts: Fact[]): Promise<bigint[]> {
    const appends: Append[] = [];
    for (const fact of facts) appends.push(await this.append(fact));
    return (await this.log.appendMany(appends)).map((outcome) => {
      if ('error' in outcome) throw outcome.error;
      return outcome.appended.position;
    });
  }

  private async append({ team, loan, event }: Fact): Promise<Append> {
    const whole = {
      ...event,
      ...('reader' in event && event.type === 'ReaderLeft' ? {} : { loan_id: loanId(loan) }),
    } as LoanEvent;
    const id =
      whole.type === 'ReaderLeft' ? { kind: 'reader', team, id: whole.reader } : { kind: 'loan', team, id: whole.loan_id };
    const stream = streamName(libraryPrefix, id);
    const last = this.ends.get(stream);
    const command = randomUUID();
    const events = await this.codec.encode(stream, last, [whole], { commandId: command, correlationId: command, team });
    const metadata = JSON.parse(events[0]?.metadata ?? '') as { hash: string };
    this.ends.set(stream, { revision: (last?.revision ?? -1n) + 1n, hash: metadata.hash });
    return { stream, events, expected: last?.revision ?? 'no_stream' };
  }
}

export type ShelfRow = {
  team_id: string;
  loan_id: string;
  reader: string;
  due: Date;
  note: string | null;
  extensions: number;
  revision: bigint;
};
export const shelf = table<ShelfRow>({
  name: 'shelf',
  columns: {
    team_id: 'uuid',
    loan_id: 'uuid',
    reader: 'text',
    due: 'timestamptz',
    note: 'text',
    extensions: 'int4',
    revision: 'int8',
  },
  nullable: ['note'],
  key: ['team_id', 'loan_id'],
  history: ['reader', 'due', 'note', 'extensions'],
  indexes: [['team_id', 'reader']],
});

/** What each reader has at home, with what was noted. A reader that leaves is forgotten, in history too. */
export const shelfProjection = projection<LoanEvent>({
  name: 'shelf',
  version: 1,
  eventTypes: ['BookLent', 'LoanExtended', 'BookReturned', 'LoanErased', 'ReaderLeft'],
  needsContent: true,
  tables: [shelf],
  load: (events) =>
    events.flatMap(({ team, data }) =>
      data.type === 'ReaderLeft' ? [] : lookup(shelf, { team_id: team, loan_id: data.loan_id }),
    ),
  changes({ team, revision, data }, rows): Change[] {
    if (data.type === 'ReaderLeft') return [erase(shelf, { team_id: team, reader: data.reader })];
    const key = { team_id: team, loan_id: data.loan_id };
    const row = rows.get(shelf, key);
    if (row && row.revision >= revision) return [];
    switch (data.type) {
      case 'BookLent': {
        const note = isRedacted(data.sealed) ? null : data.sealed.note;
        return [put(shelf, { ...key, reader: data.reader, due: new Date(data.due), note, extensions: 0, revision })];
      }
      case 'LoanExtended':
        return row ? [put(shelf, { ...row, due: new Date(data.due), extensions: row.extensions + 1, revision })] : [];
      case 'BookReturned':
        return row ? [remove(shelf, key)] : [];
      case 'LoanErased':
        return [erase(shelf, key)];
      default:
        return data satisfies never;
    }
  },
});

export type ReaderRow = { team_id: string; reader: string; loans: number; position: bigint };
export const readers = table<ReaderRow>({
  name: 'readers',
  columns: { team_id: 'uuid', reader: 'text', loans: 'int4', position: 'int8' },
  key: ['team_id', 'reader'],
  history: ['loans'],
});

/** How often each reader borrowed; never guards against an event that comes twice when `guarded` is false. */
export const readersProjection = (guarded = true) =>
  projection<Extract<LoanEvent, { type: 'BookLent' | 'ReaderLeft' }>>({
    name: 'readers',
    version: 1,
    eventTypes: ['BookLent', 'ReaderLeft'],
    needsContent: false,
    tables: [readers],
    load: (events) => events.map(({ team, data }) => lookup(readers, { team_id: team, reader: data.reader })),
    changes({ team, position, data }, rows): Change[] {
      if (Object.hasOwn(data, 'sealed')) throw new Error('content reached a projection that does not need it');
      const key = { team_id: team, reader: data.reader };
      if (data.type === 'ReaderLeft') return [erase(readers, key)];
      const row = rows.get(readers, key);
      if (guarded && row && row.position >= position) return [];
      return [put(readers, { ...key, loans: (row?.loans ?? 0) + 1, position })];
    },
  });

export type DueRow = { team_id: string; loan_id: string; days: number };
export const dues = table<DueRow>({
  name: 'dues',
  columns: { team_id: 'uuid', loan_id: 'uuid', days: 'int4' },
  key: ['team_id', 'loan_id'],
  history: ['days'],
});

/** Days since 1970 of each due date. Fails at a loan of the reader `cursed`; days beyond int4 are the database's to refuse. */
export const duesProjection = ({ curse = true, version = 1 } = {}) =>
  projection<Extract<LoanEvent, { type: 'BookLent' | 'LoanExtended' | 'LoanErased' }>>({
    name: 'dues',
    version,
    eventTypes: ['BookLent', 'LoanExtended', 'LoanErased'],
    needsContent: false,
    tables: [dues],
    load: () => [],
    changes({ team, data }): Change[] {
      const key = { team_id: team, loan_id: data.loan_id };
      if (data.type === 'LoanErased') return [erase(dues, key)];
      if (curse && data.type === 'BookLent' && data.reader === 'cursed') throw new TypeError(`no ${data.reader} readers, please`);
      if (data.type === 'BookLent' && data.reader === 'endless') return [put(dues, { ...key, days: curse ? 2 ** 40 : 0 })];
      return [put(dues, { ...key, days: Math.floor(Date.parse(data.due) / 86_400_000) })];
    },
  });
