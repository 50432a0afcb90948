import type { DomainEvent, RecordedEvent } from '../../src/event-log/domain-event.js';

/** A value of a row. bigint for int8, Date for timestamptz, string for uuid, text and json, number for int4 and float8. */
export type Value = string | number | bigint | boolean | Date | null;
export type Row = Readonly<Record<string, Value>>;

/** Column types that the engine writes and reads back unchanged. `vector` columns are filled by the embedding worker only. */
export type ColumnType = 'uuid' | 'text' | 'int4' | 'int8' | 'float8' | 'bool' | 'timestamptz' | 'vector';

/**
 * A table of a projection, and the typed handle to its rows.
 *
 * The engine creates it in the schema of the projection's version with forced row-level security. Where `history` is
 * set, it keeps an insert-only companion `<name>_history` with one row per change (key, `position`, `removed`, the named
 * columns), so that the state at a position p is the last row at or before p.
 */
export interface Table<R extends Row = Row> {
  readonly name: string;
  readonly columns: Readonly<Record<keyof R & string, ColumnType>>;
  /** Columns that may be null. */
  readonly nullable: readonly (keyof R & string)[];
  /** Primary key; its first column is `team_id`. */
  readonly key: readonly (keyof R & string)[];
  /** Non-key columns kept in the history table; none keeps no history. */
  readonly history: readonly (keyof R & string)[] | undefined;
  /** Further indexes: column lists that begin with team_id. */
  readonly indexes: readonly (readonly (keyof R & string)[])[];
  /** Columns that an operational worker fills; a rebuild need not reproduce them and changes never overwrite them with null. */
  readonly operational: readonly (keyof R & string)[];
  /**
   * Set on tables whose rows carry a vector: the column that holds the memory's id. Such a table has a `position`, and the
   * operational columns `contract` (text) and `embedding` (vector); the engine copies cached vectors into new rows in the batch's own
   * transaction, and the embedding worker makes the missing ones.
   */
  readonly embeds: (keyof R & string) | undefined;
  /** Columns that mean something else than in the version before: the two are not compared by them. */
  readonly incomparable: readonly (keyof R & string)[];
  /** Also readable by the system role, which authenticates requests before a team is known. */
  readonly systemReadable: boolean;
  readonly row?: R;
}

type TableOptions<R extends Row> = Pick<Table<R>, 'name' | 'columns' | 'key'> &
  Partial<Pick<Table<R>, 'nullable' | 'history' | 'indexes' | 'operational' | 'embeds' | 'incomparable' | 'systemReadable'>>;

const identifier = /^[a-z][a-z0-9_]{0,39}$/;

/**
 * Declares a table.
 *
 * @throws Error when a key or an index does not begin with team_id, a name is not lower-case snake case, a column has the
 * name of one that the history table has anyway, or a column that vectors need is missing
 */
export function table<R extends Row>(options: TableOptions<R>): Table<R> {
  for (const name of [options.name, ...Object.keys(options.columns)]) {
    if (!identifier.test(name))
      throw new Error(`${name} is no name for a table or a column: lower-case snake case, at most 40 characters`);
  }
  for (const columns of [options.key, ...(options.indexes ?? [])]) {
    if (columns[0] !== 'team_id') throw new Error(`${options.name}: keys and indexes begin with team_id`);
  }
  for (const name of options.history ? [...options.key, ...options.history] : []) {
    if (name === 'position' || name === 'removed')
      throw new Error(`${options.name}: the history table has a column ${name} of its own`);
  }
  for (const name of options.embeds ? ['contract', 'embedding', 'position'] : []) {
    if (!(name in options.columns)) throw new Error(`${options.name}: a table whose rows carry a vector has a column ${name}`);
  }
  return {
    nullable: [],
    history: undefined,
    indexes: [],
    operational: [],
    embeds: undefined,
    incomparable: [],
    systemReadable: false,
    ...options,
  };
}

/** Rows a projection needs before it can say what changes: those of a table whose columns equal the given values. */
export interface Lookup {
  readonly table: Table;
  readonly where: Row;
}

export type Change =
  /** Inserts or replaces the row with this key. */
  | { readonly op: 'put'; readonly table: Table; readonly row: Row }
  /** Removes the row with this key; history remembers that it was there. */
  | { readonly op: 'remove'; readonly table: Table; readonly key: Row }
  /** Removes every row, current and historical, whose columns equal these: for erasure. The columns are in the history table too. */
  | { readonly op: 'erase'; readonly table: Table; readonly where: Row };

export const lookup = <R extends Row>(of: Table<R>, where: Partial<R>): Lookup => ({ table: of, where: where as Row });
export const put = <R extends Row>(into: Table<R>, row: R): Change => ({ op: 'put', table: into as unknown as Table, row });
export const remove = <R extends Row>(from: Table<R>, key: Partial<R>): Change => ({
  op: 'remove',
  table: from as unknown as Table,
  key: key as Row,
});
export const erase = <R extends Row>(from: Table<R>, where: Partial<R>): Change => ({
  op: 'erase',
  table: from as unknown as Table,
  where: where as Row,
});

/**
 * The rows an event asked for, with the changes of the batch's earlier events already applied.
 *
 * Both refuse what the event's own `load` and `follow` did not cover: such a row would be here or not depending on how
 * the log happened to be cut into batches. Operational columns are not here.
 */
export interface Rows {
  get<R extends Row>(from: Table<R>, key: Partial<R>): R | undefined;
  /** In key order. */
  find<R extends Row>(from: Table<R>, where: Partial<R>): R[];
}

/**
 * A read model: pure functions from events to row changes. The engine owns reading, writing, checkpoints and failures.
 * Applying an event a second time must change nothing; rows carry the revision or position that made them for that.
 */
export interface Projection<Event extends DomainEvent = DomainEvent> {
  /** Lower-case snake case; part of schema names. */
  readonly name: string;
  /** Grows when tables or meaning change; a new version is built beside the old one. */
  readonly version: number;
  readonly eventTypes: readonly Event['type'][];
  /** Whether `changes` reads sealed content; if not, boxes stay shut and no keys are fetched. */
  readonly needsContent: boolean;
  readonly tables: readonly Table[];
  /** Rows needed for these events; called with one event at a time, fetched for the whole batch at once. */
  load(events: readonly RecordedEvent<Event>[]): Lookup[];
  /**
   * Further rows, reached through those at hand: evidence -> supports -> their relationships. Asked again, with what the
   * last answer added, until an answer adds nothing; at most four times an event.
   */
  follow?(event: RecordedEvent<Event>, rows: Rows): Lookup[];
  changes(event: RecordedEvent<Event>, rows: Rows): Change[];
}

/** Erases the projection's type of events, so that projections of different slices fit in one list. */
export const projection = <Event extends DomainEvent>(
  definition: Omit<Projection<Event>, 'tables'> & { tables: readonly unknown[] },
): Projection => definition as unknown as Projection;
