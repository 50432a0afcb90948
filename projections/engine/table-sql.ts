import { arrayText } from './array-text.js';
import type { HistoryRow } from './pending-history.js';
import type { Row } from './projection.js';
import type { Column, TableShape, Where } from './table-shape.js';

/**
 * The statements that read and write read models. Each handles any number of rows: values travel as one array a column,
 * because a statement per row costs a round trip each, and COPY breaks the embedded database's connection.
 */
export interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The rows whose columns equal the given values; all `wheres` name the same columns. */
export function selectRows(schema: string, shape: TableShape, wheres: readonly Where[]): Statement {
  const columns = wheres[0]?.columns ?? [];
  return {
    sql: `SELECT ${list(shape.columns, 't.')} FROM ${qualified(schema, shape.name)} AS t
JOIN ${unnest(columns)} AS k (${list(columns)}) ON ${equal('t', 'k', columns)}`,
    values: whereArrays(wheres),
  };
}

/** Inserts rows or replaces those of the same key; operational columns of a replaced row stay. */
export function upsertRows(schema: string, shape: TableShape, rows: readonly Row[]): Statement {
  const others = shape.columns.filter(({ name }) => !shape.key.some((key) => key.name === name));
  const replace = others.map(({ name }) => `${quoted(name)} = EXCLUDED.${quoted(name)}`).join(', ');
  return {
    sql: `INSERT INTO ${qualified(schema, shape.name)} (${list(shape.columns)})
SELECT * FROM ${unnest(shape.columns)}
ON CONFLICT (${list(shape.key)}) DO ${replace ? `UPDATE SET ${replace}` : 'NOTHING'}`,
    values: rowArrays(shape.columns, rows),
  };
}

export function deleteRows(schema: string, shape: TableShape, keys: readonly Row[]): Statement {
  return {
    sql: `DELETE FROM ${qualified(schema, shape.name)} AS t
USING ${unnest(shape.key)} AS k (${list(shape.key)}) WHERE ${equal('t', 'k', shape.key)}`,
    values: rowArrays(shape.key, keys),
  };
}

/** Deletes the rows whose columns equal the given values; all `wheres` name the same columns. */
export function eraseRows(schema: string, table: string, wheres: readonly Where[]): Statement {
  const columns = wheres[0]?.columns ?? [];
  return {
    sql: `DELETE FROM ${qualified(schema, table)} AS t
USING ${unnest(columns)} AS k (${list(columns)}) WHERE ${equal('t', 'k', columns)}`,
    values: whereArrays(wheres),
  };
}

/**
 * Deletes the removals in the history that ended a row about to be erased. A removal holds its key alone, so columns
 * outside the key cannot name it, and a key can be as telling as the row.
 */
export function eraseRemovals(schema: string, shape: TableShape, wheres: readonly Where[]): Statement {
  const columns = wheres[0]?.columns ?? [];
  const history = qualified(schema, historyName(shape.name));
  return {
    sql: `DELETE FROM ${history} AS t
USING ${unnest(columns)} AS k (${list(columns)}), ${history} AS ended
WHERE t.removed AND NOT ended.removed AND ${equal('ended', 'k', columns)} AND ${equal('t', 'ended', shape.key)}
AND ended.position = (SELECT max(b.position) FROM ${history} AS b WHERE ${equal('b', 't', shape.key)} AND b.position < t.position)`,
    values: whereArrays(wheres),
  };
}

/** History is written once: an event applied again leaves the rows it made before. */
export function insertHistory(schema: string, shape: TableShape, rows: readonly HistoryRow[]): Statement {
  const columns = historyColumns(shape);
  return {
    sql: `INSERT INTO ${qualified(schema, historyName(shape.name))} (${list(columns)})
SELECT * FROM ${unnest(columns)}
ON CONFLICT DO NOTHING`,
    values: historyArrays(shape, rows),
  };
}

/** Gives new rows the vectors that were made before, in the transaction that makes the rows. `idColumn` holds the memory's id. */
export function copyVectors(
  schema: string,
  shape: TableShape,
  idColumn: string,
  contract: string,
  rows: readonly Row[],
): Statement {
  const columns = shape.columns.filter(({ name }) => name === 'team_id' || name === idColumn);
  const id = quoted(idColumn);
  return {
    sql: `UPDATE ${qualified(schema, shape.name)} AS t SET contract = c.contract, embedding = c.embedding
FROM ${unnest(columns)} AS k (${list(columns)})
JOIN mneme.vector_cache AS c ON c.team_id = k.team_id AND c.memory_id = k.${id} AND c.contract = $${columns.length + 1}
WHERE ${equal('t', 'k', columns)} AND t.embedding IS NULL`,
    values: [...rowArrays(columns, rows), contract],
  };
}

export const historyName = (table: string): string => `${table}_history`;

/** Key, position, removed, and what else the history keeps. */
export const historyColumns = (shape: TableShape): Column[] => [
  ...shape.key,
  { name: 'position', type: 'int8' },
  { name: 'removed', type: 'bool' },
  ...(shape.history ?? []),
];

export const quoted = (identifier: string): string => `"${identifier}"`;
export const qualified = (schema: string, table: string): string => `${quoted(schema)}.${quoted(table)}`;
export const list = (columns: readonly Column[], prefix = ''): string =>
  columns.map(({ name }) => prefix + quoted(name)).join(', ');

const unnest = (columns: readonly Column[]): string =>
  `unnest(${columns.map(({ type }, index) => `$${index + 1}::${type}[]`).join(', ')})`;

const equal = (one: string, other: string, columns: readonly Column[]): string =>
  columns.map(({ name }) => `${one}.${quoted(name)} = ${other}.${quoted(name)}`).join(' AND ');

const rowArrays = (columns: readonly Column[], rows: readonly Row[]): string[] =>
  columns.map(({ name, type }) => arrayText(type, rows, (row) => row[name] ?? null));

const whereArrays = (wheres: readonly Where[]): string[] =>
  (wheres[0]?.columns ?? []).map(({ type }, index) => arrayText(type, wheres, ({ values }) => values[index] ?? null));

const historyArrays = (shape: TableShape, rows: readonly HistoryRow[]): string[] => [
  ...shape.key.map(({ name, type }) => arrayText(type, rows, ({ row }) => row[name] ?? null)),
  arrayText('int8', rows, ({ position }) => position),
  arrayText('bool', rows, ({ removed }) => removed),
  // A removal has nothing but its key.
  ...(shape.history ?? []).map(({ name, type }) => arrayText(type, rows, ({ row }) => row[name] ?? null)),
];
