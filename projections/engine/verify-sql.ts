import type { Queries } from '../../src/database/database.js';
import { qualified, quoted } from './table-sql.js';

/** A table that two builds have both, and what of it can be compared. */
export interface Comparable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** All columns that are compared, those of the key among them. */
  readonly columns: readonly string[];
  /** Columns of the key that hold ids or positions, and may be shown. */
  readonly shown: readonly string[];
}

export interface Digest {
  readonly rows: bigint;
  /** Equal for equal sets of rows. */
  readonly checksum: string;
}

/**
 * Count and checksum of a table, whatever the order of its rows: the sum of 64-bit hashes. `seed` is another for each
 * comparison, so that a checksum that was shown tells nobody later whether a guess at a row was right.
 */
export async function digestOf(queries: Queries, schema: string, { name, columns }: Comparable, seed: string): Promise<Digest> {
  const [digest] = await queries.query<{ rows: bigint; checksum: string }>(
    `SELECT count(*) AS rows, coalesce(sum(${rowHash('t', columns, '$1')}), 0)::text AS checksum FROM ${qualified(schema, name)} AS t`,
    [seed],
  );
  return digest ?? { rows: 0n, checksum: '0' };
}

export interface DifferingRow {
  readonly found: 'only_serving' | 'only_candidate' | 'differs';
  /** Values of the key that are ids or positions. */
  readonly key: Readonly<Record<string, string>>;
}

/** The first rows, in key order, that one build has and the other has not, or has with other values. */
export async function differingRows(
  queries: Queries,
  { serving, candidate }: { readonly serving: string; readonly candidate: string },
  { name, key, columns, shown }: Comparable,
  limit: number,
): Promise<DifferingRow[]> {
  const keys = key.map(quoted).join(', ');
  const side = (schema: string, hash: string) =>
    `(SELECT ${keys}, ${rowHash('t', columns, '0')} AS ${hash} FROM ${qualified(schema, name)} AS t)`;
  return queries.query<DifferingRow>(
    `SELECT CASE WHEN serving_hash IS NULL THEN 'only_candidate' WHEN candidate_hash IS NULL THEN 'only_serving' ELSE 'differs' END AS found,
       jsonb_build_object(${shown.map((column) => `'${column}', ${quoted(column)}::text`).join(', ')}) AS key
     FROM ${side(serving, 'serving_hash')} AS s FULL JOIN ${side(candidate, 'candidate_hash')} AS c USING (${keys})
     WHERE serving_hash IS DISTINCT FROM candidate_hash
     ORDER BY ${keys} LIMIT ${limit}`,
  );
}

export interface CatalogColumn {
  readonly table: string;
  readonly name: string;
  readonly type: string;
  /** Order within the primary key; null outside it. */
  readonly key: number | null;
}

/** The columns of a build's tables as they are: the code that made them may be gone. */
export const columnsOf = (queries: Queries, schema: string): Promise<CatalogColumn[]> =>
  queries.query<CatalogColumn>(
    `SELECT c.relname AS table, a.attname AS name, format_type(a.atttypid, a.atttypmod) AS type,
       array_position(i.indkey::int2[], a.attnum) AS key
     FROM pg_class c
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
     WHERE c.relnamespace = to_regnamespace($1) AND c.relkind = 'r'
     ORDER BY c.relname, a.attnum`,
    [quoted(schema)],
  );

const rowHash = (alias: string, columns: readonly string[], seed: string): string =>
  `hashtextextended(ROW(${columns.map((column) => `${alias}.${quoted(column)}`).join(', ')})::text, ${seed})`;
