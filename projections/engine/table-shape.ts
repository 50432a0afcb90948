import { ProjectionDefect } from './errors.js';
import type { ColumnType, Row, Table, Value } from './projection.js';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** Columns that rows are named by. One object for one set of columns of a table. */
export class ColumnSet {
  /** Equal for equal sets of columns of one table. */
  readonly id: string;

  /** @param columns the key's in its own order when they are the key, else in the table's */
  constructor(
    readonly shape: TableShape,
    readonly columns: readonly Column[],
  ) {
    this.id = columns.map(({ name }) => name).join();
  }

  get isKey(): boolean {
    return this.columns === this.shape.key;
  }
}

/** Values that some columns must have: which rows a lookup or an erasure means. */
export class Where {
  /** Equal for equal values of the same columns; where the columns are the key, the id of the row. */
  readonly id: string;

  constructor(
    readonly of: ColumnSet,
    readonly values: readonly Value[],
  ) {
    this.id = valuesId(values);
  }

  get columns(): readonly Column[] {
    return this.of.columns;
  }

  get columnsId(): string {
    return this.of.id;
  }
}

/**
 * A table as the engine handles it: its columns by purpose, and rows and keys in one comparable form. A replay comes by
 * here several times an event, hence the plain loops: a list made and thrown away for every row costs as much as the row.
 */
export class TableShape {
  readonly name: string;
  /** All but the operational ones, which are not the projection's to write. */
  readonly columns: readonly Column[];
  readonly key: readonly Column[];
  /** Columns that the history table keeps beside key, position and `removed`; undefined without history. */
  readonly history: readonly Column[] | undefined;
  private readonly keySet: ColumnSet;
  /** By the names as they were written, in whatever order. */
  private readonly sets = new Map<string, ColumnSet>();

  constructor(readonly table: Table) {
    this.name = table.name;
    const column = (name: string): Column => ({ name, type: typeOf(table, name) });
    this.columns = Object.keys(table.columns)
      .filter((name) => !table.operational.includes(name))
      .map(column);
    this.key = table.key.map(column);
    this.history = table.history?.filter((name) => !table.key.includes(name)).map(column);
    this.keySet = new ColumnSet(this, this.key);
  }

  /** The row itself when it has this form already. @throws ProjectionDefect when a column is missing */
  row(row: Row): Row {
    if (Object.keys(row).length !== this.columns.length) return this.pick(this.columns, row);
    for (const { name, type } of this.columns) {
      const value = row[name];
      if (value === undefined || !Object.is(normalised(type, value), value)) return this.pick(this.columns, row);
    }
    return row;
  }

  keyOf(row: Row): Row {
    return this.pick(this.key, row);
  }

  /** Equal for rows of the same key; of a row in the form of `row` or `keyOf`. */
  id(row: Row): string {
    let id: string | undefined;
    for (const { name } of this.key) {
      const value = valueId(row[name] ?? null);
      id = id === undefined ? value : `${id}\0${value}`;
    }
    return id ?? '';
  }

  /** @throws ProjectionDefect for a column the table does not have, and for null, which equals nothing */
  where(where: Row): Where {
    return this.named(this.setOf(Object.keys(where)), where);
  }

  /** Of the row with this key. @throws ProjectionDefect when a column of the key is missing or null */
  whereKey(key: Row): Where {
    for (const { name } of this.key) if (key[name] === undefined) throw this.lacks(name);
    return this.named(this.keySet, key);
  }

  /** Order of rows by key. */
  readonly byKey = (one: Row, other: Row): number => {
    for (const { name } of this.key) {
      const order = compare(one[name] ?? null, other[name] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  };

  private named(set: ColumnSet, where: Row): Where {
    const values: Value[] = [];
    for (const { name, type } of set.columns) {
      const value = normalised(type, where[name] ?? null);
      if (value === null) throw new ProjectionDefect(`rows of ${this.name} are named by a ${name} that is null`);
      values.push(value);
    }
    return new Where(set, values);
  }

  private setOf(names: readonly string[]): ColumnSet {
    const written = names.join();
    let set = this.sets.get(written);
    if (!set) this.sets.set(written, (set = this.newSet(names)));
    return set;
  }

  private newSet(names: readonly string[]): ColumnSet {
    for (const name of names) typeOf(this.table, name);
    const isKey = names.length === this.key.length && this.key.every(({ name }) => names.includes(name));
    if (isKey) return this.keySet;
    const columns = this.columns.filter(({ name }) => names.includes(name));
    const same = [...this.sets.values()].find(({ id }) => id === columns.map(({ name }) => name).join());
    return same ?? new ColumnSet(this, columns);
  }

  private pick(columns: readonly Column[], row: Row): Row {
    const picked: Record<string, Value> = {};
    for (const { name, type } of columns) {
      const value = row[name];
      if (value === undefined) throw this.lacks(name);
      picked[name] = normalised(type, value);
    }
    return picked;
  }

  private lacks = (column: string): ProjectionDefect => new ProjectionDefect(`a row for ${this.name} has no ${column}`);
}

/** Whether every column of the one is a column of the other. */
export const within = (columns: readonly Column[], others: readonly Column[]): boolean =>
  columns.every(({ name }) => others.some((other) => other.name === name));

const shapes = new WeakMap<Table, TableShape>();

export function shapeOf(table: Table): TableShape {
  let shape = shapes.get(table);
  if (!shape) shapes.set(table, (shape = new TableShape(table)));
  return shape;
}

/** One text for values in normalised form. No text of ours contains NUL, so it can stand between them. */
export function valuesId(values: readonly Value[]): string {
  let id = '';
  for (let index = 0; index < values.length; index++) id += (index === 0 ? '' : '\0') + valueId(values[index] ?? null);
  return id;
}

const valueId = (value: Value): string => {
  if (typeof value === 'string') return value;
  if (value === null) return '\0null';
  return value instanceof Date ? String(value.getTime()) : String(value);
};

/** What PostgreSQL's text cannot hold: NUL, and halves of surrogate pairs. */
const unstorable = /\0|\p{Surrogate}/gu;

/** Quick, and true of every text that has something unstorable; whole pairs, as in 😀, are looked at more closely. */
const suspicious = /[\0\ud800-\udfff]/;

/**
 * The form in which a value is compared and stored, whether it comes from an event or from the database. What text cannot
 * hold becomes U+FFFD: one odd character that somebody wrote must not stop a projection.
 */
export function normalised(type: ColumnType, value: Value): Value {
  if (value === null) return null;
  switch (type) {
    case 'text':
      return typeof value === 'string' && suspicious.test(value) ? value.replace(unstorable, '\uFFFD') : value;
    case 'uuid':
      return typeof value === 'string' ? value.toLowerCase() : value;
    case 'timestamptz':
      return typeof value === 'string' ? new Date(value) : value;
    case 'int8':
      return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
    case 'int4':
    case 'float8':
      return value === 0 ? 0 : value; // -0 is sent, and comes back, as 0
    case 'bool':
    case 'vector':
      return value;
    default:
      return type satisfies never;
  }
}

function compare(one: Value, other: Value): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  return one < other ? -1 : Number(one > other);
}

function typeOf(table: Table, column: string): ColumnType {
  const type = table.columns[column];
  if (!type || table.operational.includes(column))
    throw new ProjectionDefect(`${table.name} has no column ${column} to name rows by`);
  return type;
}
