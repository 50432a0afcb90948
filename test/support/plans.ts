import { type Database, Database as RealDatabase, type Queries } from '../../src/database/database.js';
import type { Projection, Table } from '../../projections/engine/projection.js';
import { qualified, quoted } from '../../projections/engine/table-sql.js';

/** The user who connects and owns the log, or a role that a transaction takes on. */
export type Reader = 'owner' | 'mneme_system' | 'mneme_projector' | { readonly team: string };

/** A statement of the product, and who sends it. */
export interface Sent {
  readonly sql: string;
  readonly values: readonly unknown[];
  readonly reader: Reader;
}

/** One step of a plan. */
export interface PlanNode {
  readonly type: string;
  readonly relation: string | undefined;
  readonly index: string | undefined;
  /** What an index is searched by; undefined reads all of it, in its order. */
  readonly condition: string | undefined;
  readonly sortedBy: readonly string[] | undefined;
  readonly direction: string | undefined;
}

/**
 * A database that is not there: it keeps the statements that are sent to it and finds nothing. What depends on an answer is
 * not sent.
 */
class NoDatabase extends RealDatabase {
  readonly sent: Sent[] = [];

  constructor() {
    super('postgres://nowhere', false, 1);
  }

  override asTeam<T>(team: string, work: (queries: Queries) => Promise<T>): Promise<T> {
    return work(this.queriesOf({ team }));
  }

  override as<T>(role: 'mneme_projector' | 'mneme_system', work: (queries: Queries) => Promise<T>): Promise<T> {
    return work(this.queriesOf(role));
  }

  override asOwner<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return work(this.queriesOf('owner'));
  }

  override query<R extends object>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    return this.queriesOf('owner').query<R>(sql, values);
  }

  private queriesOf(reader: Reader): Queries {
    const keep = (sql: string, values: readonly unknown[] = []) => this.sent.push({ sql, values, reader });
    return {
      query: (sql, values) => {
        keep(sql, values);
        return Promise.resolve([]);
      },
      execute: (sql, values) => {
        keep(sql, values);
        return Promise.resolve(0);
      },
    };
  }
}

/** The very statements that a part of the product sends, so that a plan is never one of a copy. */
export async function sentBy(work: (database: Database) => Promise<unknown>): Promise<Sent[]> {
  const database = new NoDatabase();
  await work(database);
  await database.close();
  return database.sent;
}

/** The plan of a statement, as the server makes it for these values and for who sends it. */
export async function planOf(database: Database, { sql, values, reader }: Sent): Promise<PlanNode[]> {
  const explain = async (queries: Queries) => {
    const [row] = await queries.query<{ 'QUERY PLAN': readonly { Plan: RawNode }[] }>(`EXPLAIN (FORMAT JSON) ${sql}`, values);
    return row?.['QUERY PLAN'][0]?.Plan;
  };
  const plan = await asReader(database, reader, explain);
  if (!plan) throw new Error('the server explained nothing');
  return flattened(plan);
}

function asReader<T>(database: Database, reader: Reader, work: (queries: Queries) => Promise<T>): Promise<T> {
  if (typeof reader !== 'string') return database.asTeam(reader.team, work);
  return reader === 'owner' ? database.asOwner(work) : database.as(reader, work);
}

interface RawNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly 'Sort Key'?: readonly string[];
  readonly 'Scan Direction'?: string;
  readonly Plans?: readonly RawNode[];
}

const flattened = (node: RawNode): PlanNode[] => [
  {
    type: node['Node Type'],
    relation: node['Relation Name'],
    index: node['Index Name'],
    condition: node['Index Cond'],
    sortedBy: node['Sort Key'],
    direction: node['Scan Direction'],
  },
  ...(node.Plans ?? []).flatMap(flattened),
];

/** SQL for a value of the `g`-th row, by column type. */
const valueOfRow: Readonly<Record<string, string>> = {
  uuid: `md5(g::text)::uuid`,
  text: `'text ' || g`,
  int4: 'g',
  int8: 'g',
  float8: '0.5',
  bool: 'false',
  timestamptz: `timestamptz '2026-01-01 00:00:00Z' + g * interval '1 second'`,
};

/** Fills a table of a read model with rows 1 to `rows`. @param columns SQL for columns whose values matter, over `g` */
export async function fillRows(
  database: Database,
  target: { readonly projection: Projection; readonly table: Table; readonly rows: number },
  columns: Readonly<Record<string, string>>,
): Promise<void> {
  const { projection, table, rows } = target;
  const [build] = await database.query<{ schema: string }>(
    `SELECT schema_name AS schema FROM mneme.projection_builds WHERE name = $1 AND role = 'serving'`,
    [projection.name],
  );
  if (!build) throw new Error(`${projection.name} is not active`);
  const filled = Object.entries(table.columns).filter(([name]) => name in columns || !table.nullable.includes(name));
  await database.as('mneme_projector', (queries) =>
    queries.execute(
      `INSERT INTO ${qualified(build.schema, table.name)} (${filled.map(([name]) => quoted(name)).join(', ')})
       SELECT ${filled.map(([name, type]) => columns[name] ?? valueOfRow[type]).join(', ')} FROM generate_series(1, ${rows}) AS g`,
    ),
  );
}
