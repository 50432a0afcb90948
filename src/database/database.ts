import pg from 'pg';
import { isUuid } from '../uuid.js';
import { DatabaseUnavailable, databaseError } from './errors.js';

/**
 * Roles a transaction runs under, whatever user connects. None of them bypasses row-level security.
 * - `mneme_app`: sees one team's rows of the read models.
 * - `mneme_projector`: writes all read models.
 * - `mneme_system`: keys, API keys and other tables that no request may reach.
 */
export type Role = 'mneme_app' | 'mneme_projector' | 'mneme_system';

/** Statements inside one transaction. int8 comes back as bigint, timestamptz as Date. */
export interface Queries {
  query<R extends object>(sql: string, values?: readonly unknown[]): Promise<R[]>;
  /** Number of rows the statement changed. */
  execute(sql: string, values?: readonly unknown[]): Promise<number>;
}

/** Longest wait for one statement, milliseconds. Ours take far less; migrations have a connection of their own. */
const queryTimeoutMs = 30_000;

/**
 * The pool and its transactions. Never open a second transaction while holding one: the embedded database has exactly
 * one connection, and the second would wait for the first for ever.
 */
export class Database {
  private readonly pool: pg.Pool;

  /** @param embedded one connection, session state shared by all: `SET LOCAL` only, no named statements, no COPY */
  constructor(
    readonly url: string,
    readonly embedded: boolean,
    connections: number,
  ) {
    this.pool = new pg.Pool({
      connectionString: url,
      max: embedded ? 1 : connections,
      connectionTimeoutMillis: 10_000,
      idleTimeoutMillis: embedded ? 0 : 30_000,
      keepAlive: true,
      // A server that stopped answering would otherwise hold a request until TCP gives up, which takes a quarter of an hour.
      ...(embedded ? {} : { query_timeout: queryTimeoutMs }),
      types: { getTypeParser: typeParser },
    });
    // An idle connection that breaks is replaced by the pool; unhandled, the event would end the process.
    this.pool.on('error', () => undefined);
    // So is one that breaks while a transaction has it, between two statements: the next statement fails, and that is handled.
    this.pool.on('connect', (client) => client.on('error', () => undefined));
  }

  /** Reads and writes of one team. `snapshot` makes it read-only and REPEATABLE READ, so that all statements see one moment. */
  asTeam<T>(team: string, work: (queries: Queries) => Promise<T>, { snapshot = false } = {}): Promise<T> {
    if (!isUuid(team)) throw new TypeError('team must be a UUID in lower case');
    return this.transaction(`${begin(snapshot)}; SET LOCAL ROLE mneme_app; SET LOCAL mneme.team_id = '${team}'`, work);
  }

  as<T>(role: Exclude<Role, 'mneme_app'>, work: (queries: Queries) => Promise<T>, { snapshot = false } = {}): Promise<T> {
    return this.transaction(`${begin(snapshot)}; SET LOCAL ROLE ${role}`, work);
  }

  /** As the connecting user, who owns the tables: migrations, and the schemas of new projection versions. */
  asOwner<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    return this.transaction('BEGIN', work);
  }

  /** One statement of its own, as the connecting user. */
  async query<R extends object>(sql: string, values: readonly unknown[] = []): Promise<R[]> {
    try {
      return (await this.pool.query<R & pg.QueryResultRow>(sql, [...values])).rows;
    } catch (error) {
      throw databaseError(error);
    }
  }

  async close(): Promise<void> {
    await this.pool.end();
  }

  private async transaction<T>(opening: string, work: (queries: Queries) => Promise<T>): Promise<T> {
    const client = await this.connect();
    let broken = false;
    try {
      await client.query(opening);
      const result = await work(queriesOf(client));
      await client.query('COMMIT');
      return result;
    } catch (error) {
      const failure = databaseError(error);
      // A connection that did not answer is not asked to roll back: it would take as long again. Without it the server does.
      broken = (failure instanceof DatabaseUnavailable && failure.sqlState === undefined) || !(await rolledBack(client));
      throw failure;
    } finally {
      client.release(broken);
    }
  }

  private async connect(): Promise<pg.PoolClient> {
    try {
      return await this.pool.connect();
    } catch (error) {
      const mapped = databaseError(error);
      throw mapped instanceof DatabaseUnavailable ? mapped : new DatabaseUnavailable(undefined);
    }
  }
}

const begin = (snapshot: boolean) => (snapshot ? 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY' : 'BEGIN');

async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

function queriesOf(client: pg.PoolClient): Queries {
  const run = async (sql: string, values: readonly unknown[] = []) => {
    try {
      return await client.query<pg.QueryResultRow>(sql, [...values]);
    } catch (error) {
      throw databaseError(error);
    }
  };
  return {
    query: async <R extends object>(sql: string, values?: readonly unknown[]) => (await run(sql, values)).rows as R[],
    execute: async (sql, values) => (await run(sql, values)).rowCount ?? 0,
  };
}

/** int8 has more digits than a number can hold; what is not ours to change reads as it always does. */
function typeParser(...[oid, format]: Parameters<typeof pg.types.getTypeParser>): (text: string) => unknown {
  if (oid === pg.types.builtins.INT8 && format !== 'binary') return BigInt;
  return pg.types.getTypeParser(oid, format) as (text: string) => unknown;
}
