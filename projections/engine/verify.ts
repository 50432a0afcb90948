import { randomBytes } from 'node:crypto';
import type { Queries } from '../../src/database/database.js';
import type { BuildReference } from '../../src/operations/operation.js';
import { buildsOf, type Build } from './builds.js';
import { readGroup } from './checkpoint.js';
import { BuildRefused } from './errors.js';
import type { EngineSettings } from './options.js';
import type { Projection } from './projection.js';
import { historyName } from './table-sql.js';
import {
  columnsOf,
  differingRows,
  digestOf,
  type CatalogColumn,
  type Comparable,
  type DifferingRow,
  type Digest,
} from './verify-sql.js';

/** Differing rows that are named, of each table. */
export const mostDifferences = 20;

export interface TableComparison {
  readonly table: string;
  /** Undefined where only one of the two builds has the table. */
  readonly serving: Digest | undefined;
  readonly candidate: Digest | undefined;
  /** Columns compared; none where the two have other keys. */
  readonly columns: readonly string[];
  readonly equal: boolean;
  /** Of tables whose rows differ; ids only. At most 20, though there may be more. */
  readonly differences: readonly DifferingRow[];
}

/** What serves, and what may serve instead, compared at one position. */
export interface Verification {
  readonly projection: string;
  readonly position: bigint;
  readonly serving: BuildReference;
  readonly candidate: BuildReference & { readonly role: 'ready' | 'standby' };
  /** All that both versions have and can be compared by is equal. */
  readonly equal: boolean;
  readonly tables: readonly TableComparison[];
}

/**
 * Compares the build that is ready, or else the one that stands by, with the one that serves: both in one snapshot, so at
 * the same position, that of the group.
 *
 * @throws BuildRefused `nothing_to_verify`; `builds_not_level` when one of the two is stopped or still being built
 */
export async function verify({ database, projections }: EngineSettings, name: string): Promise<Verification> {
  return database.as(
    'mneme_projector',
    async (queries) => {
      const { position = -1n } = (await readGroup(queries)) ?? {};
      const builds = await buildsOf(queries, name);
      const serving = builds.find(({ role }) => role === 'serving');
      const candidate = builds.find(({ role }) => role === 'ready') ?? builds.find(({ role }) => role === 'standby');
      if (!serving || !candidate || candidate.role === 'serving') throw new BuildRefused('nothing_to_verify', name);
      if (serving.state !== 'active' || candidate.state !== 'active') throw new BuildRefused('builds_not_level', name);
      const hidden = incomparable(
        [serving, candidate].flatMap((build) => projections.of(build) ?? []),
        serving.version !== candidate.version,
      );
      const tables = await compare(queries, { serving, candidate }, hidden);
      return {
        projection: name,
        position,
        serving: { version: serving.version, build: serving.build },
        candidate: { version: candidate.version, build: candidate.build, role: candidate.role },
        equal: tables.every(({ equal }) => equal),
        tables,
      };
    },
    { snapshot: true },
  );
}

interface Pair {
  readonly serving: Build;
  readonly candidate: Build;
}

async function compare(queries: Queries, pair: Pair, hidden: ReadonlySet<string>): Promise<TableComparison[]> {
  const ofServing = byTable(await columnsOf(queries, pair.serving.schema));
  const ofCandidate = byTable(await columnsOf(queries, pair.candidate.schema));
  const seed = randomBytes(8).readBigInt64BE().toString();
  const comparisons: TableComparison[] = [];
  for (const name of [...new Set([...ofServing.keys(), ...ofCandidate.keys()])].sort()) {
    const [one, other] = [ofServing.get(name), ofCandidate.get(name)];
    const common = one && other ? comparable(name, one, other, hidden) : undefined;
    if (common) comparisons.push(await compareTable(queries, pair, common, seed));
    else comparisons.push(await countOnly(queries, pair, { name, serving: one, candidate: other }));
  }
  return comparisons;
}

async function compareTable(
  queries: Queries,
  { serving, candidate }: Pair,
  table: Comparable,
  seed: string,
): Promise<TableComparison> {
  const ofServing = await digestOf(queries, serving.schema, table, seed);
  const ofCandidate = await digestOf(queries, candidate.schema, table, seed);
  const equal = ofServing.rows === ofCandidate.rows && ofServing.checksum === ofCandidate.checksum;
  const schemas = { serving: serving.schema, candidate: candidate.schema };
  return {
    table: table.name,
    serving: ofServing,
    candidate: ofCandidate,
    columns: table.columns,
    equal,
    differences: equal ? [] : await differingRows(queries, schemas, table, mostDifferences),
  };
}

/** A table that only one version has, or under another key, is another table: its rows are counted, and nothing is said of them. */
async function countOnly(
  queries: Queries,
  pair: Pair,
  { name, ...there }: { name: string; serving: CatalogColumn[] | undefined; candidate: CatalogColumn[] | undefined },
): Promise<TableComparison> {
  const count = async (schema: string, columns: CatalogColumn[] | undefined) =>
    columns && { ...(await digestOf(queries, schema, { name, key: [], columns: ['team_id'], shown: [] }, '0')), checksum: '' };
  const serving = await count(pair.serving.schema, there.serving);
  const candidate = await count(pair.candidate.schema, there.candidate);
  return { table: name, serving, candidate, columns: [], equal: true, differences: [] };
}

function byTable(columns: readonly CatalogColumn[]): Map<string, CatalogColumn[]> {
  const tables = new Map<string, CatalogColumn[]>();
  for (const column of columns) tables.set(column.table, [...(tables.get(column.table) ?? []), column]);
  return tables;
}

/** Undefined where the two have other keys. */
function comparable(
  name: string,
  serving: readonly CatalogColumn[],
  candidate: readonly CatalogColumn[],
  hidden: ReadonlySet<string>,
): Comparable | undefined {
  const keyOf = (columns: readonly CatalogColumn[]) =>
    columns.filter(({ key }) => key !== null).sort((one, other) => Number(one.key) - Number(other.key));
  const [one, other] = [keyOf(serving), keyOf(candidate)].map((key) => key.map(({ name: of, type }) => `${of} ${type}`).join());
  if (one !== other) return undefined;
  const common = candidate.filter(
    (column) =>
      !hidden.has(`${name}.${column.name}`) && serving.some((same) => same.name === column.name && same.type === column.type),
  );
  const key = keyOf(candidate);
  return {
    name,
    key: key.map((column) => column.name),
    columns: common.map((column) => column.name),
    shown: key.filter(({ type }) => type === 'uuid' || type === 'bigint' || type === 'integer').map((column) => column.name),
  };
}

/** What two builds are not compared by, as `table.column`: what workers fill in, and what another version means otherwise. */
function incomparable(projections: readonly Projection[], versionsDiffer: boolean): Set<string> {
  const hidden = new Set<string>();
  for (const { tables } of projections) {
    for (const table of tables) {
      for (const column of [...table.operational, ...(versionsDiffer ? table.incomparable : [])]) {
        hidden.add(`${table.name}.${column}`);
        hidden.add(`${historyName(table.name)}.${column}`);
      }
    }
  }
  return hidden;
}
