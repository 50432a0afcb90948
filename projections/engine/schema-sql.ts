import type { Projection, Table } from './projection.js';
import { historyColumns, historyName, list, qualified, quoted } from './table-sql.js';
import { shapeOf, within, type Column, type TableShape } from './table-shape.js';

/** Schema of one build: a build never writes into the tables of another. */
export const schemaName = (projection: string, version: number, build: number): string =>
  `mneme_${projection}_${version}_${build}`;

/** Makes the schema of a build with its tables, indexes, policies and grants. */
export function createSchema(schema: string, projection: Projection): string {
  return [
    `CREATE SCHEMA ${quoted(schema)}`,
    `GRANT USAGE ON SCHEMA ${quoted(schema)} TO mneme_app, mneme_projector, mneme_system`,
    ...projection.tables.flatMap((table) => [...createTable(schema, table), ...createHistory(schema, table)]),
  ].join(';\n');
}

/** Points the stable names at a build. The views check the rights of who reads, so row-level security holds through them. */
export function pointViews(schema: string, projection: Projection): string {
  return projection.tables
    .flatMap((table) => [table.name, ...(table.history ? [historyName(table.name)] : [])])
    .flatMap((name) => [
      // Not CREATE OR REPLACE, which refuses a view whose columns changed.
      `DROP VIEW IF EXISTS mneme_read.${quoted(name)}`,
      `CREATE VIEW mneme_read.${quoted(name)} WITH (security_invoker = true) AS SELECT * FROM ${qualified(schema, name)}`,
      `GRANT SELECT ON mneme_read.${quoted(name)} TO mneme_app, mneme_system`,
      `GRANT SELECT, UPDATE ON mneme_read.${quoted(name)} TO mneme_projector`,
    ])
    .join(';\n');
}

/** Names of the views that point at a build's tables. */
export const viewsOf = `SELECT DISTINCT view_name::text AS name FROM information_schema.view_table_usage
  WHERE view_schema = 'mneme_read' AND table_schema = $1`;

export const dropViews = (names: readonly string[]): string =>
  names.map((name) => `DROP VIEW mneme_read.${quoted(name)}`).join(';\n');

/** Drops a build with the views that still point at it. */
export const dropSchema = (schema: string): string => `DROP SCHEMA IF EXISTS ${quoted(schema)} CASCADE`;

/** Statistics for the planner, which knows nothing of tables filled a moment ago; the embedded database never makes any itself. */
export const analyze = (schema: string, projection: Projection): string =>
  projection.tables
    .flatMap((table) => [table.name, ...(table.history ? [historyName(table.name)] : [])])
    .map((name) => `ANALYZE ${qualified(schema, name)}`)
    .join(';\n');

function createTable(schema: string, table: Table): string[] {
  const name = qualified(schema, table.name);
  const columns = Object.entries(table.columns).map(([column, type]) => {
    const nullable = table.nullable.includes(column) || table.operational.includes(column);
    return `${quoted(column)} ${type}${nullable ? '' : ' NOT NULL'}`;
  });
  return [
    `CREATE TABLE ${name} (${columns.join(', ')}, PRIMARY KEY (${table.key.map(quoted).join(', ')}))`,
    ...(table.embeds ? embeddingColumn(name) : []),
    ...noStatistics(name, Object.entries(table.columns)),
    ...table.indexes.map((index) => `CREATE INDEX ON ${name} (${index.map(quoted).join(', ')})`),
    ...security(name, table.systemReadable),
  ];
}

/** The planner's statistics are a copy of common values, which erasing rows does not touch: none is made of what people wrote. */
const noStatistics = (name: string, columns: readonly (readonly [column: string, type: string])[]): string[] =>
  columns
    .filter(([, type]) => type === 'text' || type === 'vector')
    .map(([column]) => `ALTER TABLE ${name} ALTER COLUMN ${quoted(column)} SET STATISTICS 0`);

/**
 * Vectors are read by every scan that ranks; out of line, each would cost a second look-up. MAIN keeps them in the row as
 * long as a page takes it; PLAIN would refuse those of more than about 1,900 dimensions. The index serves the embedding
 * worker, which asks for the oldest missing ones after every batch and must not read the whole table for it.
 */
const embeddingColumn = (name: string): string[] => [
  `ALTER TABLE ${name} ALTER COLUMN embedding SET STORAGE MAIN`,
  `CREATE INDEX ON ${name} (position) WHERE embedding IS NULL`,
];

function createHistory(schema: string, table: Table): string[] {
  const shape = shapeOf(table);
  if (!shape.history) return [];
  const name = qualified(schema, historyName(table.name));
  const required = new Set([...shape.key.map((column) => column.name), 'position', 'removed']);
  const columns = historyColumns(shape).map((column) => {
    return `${quoted(column.name)} ${column.type}${required.has(column.name) ? ' NOT NULL' : ''}`;
  });
  return [
    `CREATE TABLE ${name} (${columns.join(', ')}, PRIMARY KEY (${list(shape.key)}, position))`,
    ...noStatistics(
      name,
      historyColumns(shape).map((column) => [column.name, column.type] as const),
    ),
    ...historyIndexes(shape).map((index) => `CREATE INDEX ON ${name} (${index.map(quoted).join(', ')}, position)`),
    ...security(name, false),
  ];
}

/** The table's own indexes, as far as the history has their columns: erasures and reads as of a position go by the same columns. */
function historyIndexes(shape: TableShape): (readonly string[])[] {
  const kept = [...shape.key, ...(shape.history ?? [])];
  const asColumn = (name: string): Column => ({ name, type: 'text' });
  return shape.table.indexes.filter((index) => within(index.map(asColumn), kept));
}

const security = (table: string, systemReadable: boolean): string[] => [
  `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
  `ALTER TABLE ${table} FORCE ROW LEVEL SECURITY`,
  `CREATE POLICY team ON ${table} FOR SELECT TO mneme_app USING (team_id = current_setting('mneme.team_id')::uuid)`,
  `CREATE POLICY projector ON ${table} TO mneme_projector USING (true) WITH CHECK (true)`,
  `GRANT SELECT ON ${table} TO mneme_app`,
  `GRANT SELECT, INSERT, UPDATE, DELETE ON ${table} TO mneme_projector`,
  ...(systemReadable
    ? [`CREATE POLICY system ON ${table} FOR SELECT TO mneme_system USING (true)`, `GRANT SELECT ON ${table} TO mneme_system`]
    : []),
];
