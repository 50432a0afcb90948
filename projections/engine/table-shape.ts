import { ProjectionDefect } from './errors.js';
import type { ColumnType, Row, Table, Value } from './projection.js';

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** Values that some columns must have: which rows a lookup or an erasure means. */
export interface Where {
  /** In order of their names. */
  readonly columns: readonly Column[];
  /** Equal for equal sets of columns. */
  readonly columnsId: string;
  readonly values: readonly Value[];
  /** Equal for equal values of the same columns. */
  readonly id: string;
}

/** A table as the engine handles it: its columns by purpose, and rows and keys in one comparable form. */
export class TableShape {
  readonly name: string;
  /** All but the operational ones, which are not the projection's to write. */
  readonly columns: readonly Column[];
  readonly key: readonly Column[];
  /** Columns that the history table keeps beside key, position and `removed`; undefined without history. */
  readonly history: readonly Column[] | undefined;

  constructor(readonly table: Table) {
    this.name = table.name;
    const column = (name: string): Column => ({ name, type: typeOf(table, name) });
    this.columns = Object.keys(table.columns)
      .filter((name) => !table.operational.includes(name))
      .map(column);
    this.key = table.key.map(column);
    this.history = table.history?.filter((name) => !table.key.includes(name)).map(column);
  }

  /** @throws ProjectionDefect when a column is missing */
  row(row: Row): Row {
    return this.pick(this.columns, row);
  }

  keyOf(row: Row): Row {
    return this.pick(this.key, row);
  }

  /** Equal for rows of the same key; of a row in the form of `row` or `keyOf`. */
  id(row: Row): string {
    return valuesId(this.key.map(({ name }) => row[name] ?? null));
  }

  /** @throws ProjectionDefect for a column the table does not have, and for null, which equals nothing */
  where(where: Row): Where {
    const columns = Object.keys(where)
      .sort()
      .map((name) => ({ name, type: typeOf(this.table, name) }));
    const values = columns.map(({ name, type }) => {
      const value = normalised(type, where[name] ?? null);
      if (value === null) throw new ProjectionDefect(`rows of ${this.name} are named by a ${name} that is null`);
      return value;
    });
    return { columns, columnsId: columns.map(({ name }) => name).join(), values, id: valuesId(values) };
  }

  /** Order of rows by key. */
  readonly byKey = (one: Row, other: Row): number => {
    for (const { name } of this.key) {
      const order = compare(one[name] ?? null, other[name] ?? null);
      if (order !== 0) return order;
    }
    return 0;
  };

  private pick(columns: readonly Column[], row: Row): Row {
    const picked: Record<string, Value> = {};
    for (const { name, type } of columns) {
      const value = row[name];
      if (value === undefined) throw new ProjectionDefect(`a row for ${this.name} has no ${name}`);
      picked[name] = normalised(type, value);
    }
    return picked;
  }
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
export const valuesId = (values: readonly Value[]): string => values.map(valueId).join('\0');

const valueId = (value: Value): string =>
  value === null ? '\0null' : value instanceof Date ? String(value.getTime()) : String(value);

/** What PostgreSQL's text cannot hold: NUL, and halves of surrogate pairs. */
const unstorable = /\0|\p{Surrogate}/gu;

/**
 * The form in which a value is compared and stored, whether it comes from an event or from the database. What text cannot
 * hold becomes U+FFFD: one odd character that somebody wrote must not stop a projection.
 */
export function normalised(type: ColumnType, value: Value): Value {
  if (value === null) return null;
  switch (type) {
    case 'text':
      return typeof value === 'string' ? value.replace(unstorable, '\uFFFD') : value;
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
