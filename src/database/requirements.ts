import type { Database } from './database.js';

/** The server lacks something we need; the message says what to do. */
export class DatabaseUnsuitable extends Error {
  readonly code = 'database_unsuitable';
}

/** What a PostgreSQL server says of itself. */
export interface ServerFacts {
  /** `server_version_num`, for example 170004. */
  readonly number: number;
  readonly version: string;
  /** pgvector: the version in this database, and the one that can be installed; undefined when the server has none. */
  readonly vector: { readonly installed: string | null; readonly available: string } | undefined;
}

const oldestPostgres = 150_000;
const oldestVector = { major: 0, minor: 8 };

/** @throws DatabaseUnsuitable when the server is too old or has no pgvector */
export async function checkRequirements(database: Database): Promise<void> {
  const problem = unmetRequirement(await readServerFacts(database));
  if (problem !== undefined) throw new DatabaseUnsuitable(problem);
}

/** @throws DatabaseUnavailable, DatabaseFailure */
export async function readServerFacts(database: Pick<Database, 'query'>): Promise<ServerFacts> {
  const [server] = await database.query<{ number: number; version: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`,
  );
  const [vector] = await database.query<{ installed: string | null; available: string }>(
    `SELECT installed_version AS installed, default_version AS available FROM pg_available_extensions WHERE name = 'vector'`,
  );
  return { number: server?.number ?? 0, version: server?.version ?? 'of unknown version', vector };
}

/** What is missing and what to do about it; undefined when nothing is. */
export function unmetRequirement({ number, version, vector }: ServerFacts): string | undefined {
  if (number < oldestPostgres) return `PostgreSQL ${version} is too old: use PostgreSQL 15 or newer`;
  if (!vector) {
    const packageName = `postgresql-${Math.floor(number / 10_000)}-pgvector`;
    return `the PostgreSQL server has no pgvector: install it (package ${packageName}, or an image with pgvector) and start again`;
  }
  if (vector.installed !== null && tooOld(vector.installed)) {
    return `pgvector ${vector.installed} is too old: install pgvector 0.8 or newer, run ALTER EXTENSION vector UPDATE, and start again`;
  }
  if (vector.installed === null && tooOld(vector.available)) {
    return `pgvector ${vector.available} is too old: install pgvector 0.8 or newer and start again`;
  }
  return undefined;
}

function tooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldestVector.major || (major === oldestVector.major && minor < oldestVector.minor);
}
