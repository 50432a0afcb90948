import type { Database } from './database.js';

/** The server lacks something we need; the message says what to do. */
export class DatabaseUnsuitable extends Error {
  readonly code = 'database_unsuitable';
}

const oldestPostgres = 150_000;
const oldestVector = [0, 8] as const;

/** @throws DatabaseUnsuitable when the server is too old or has no pgvector */
export async function checkRequirements(database: Database): Promise<void> {
  const [server] = await database.query<{ number: number; version: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS version`,
  );
  if (!server || server.number < oldestPostgres) {
    throw new DatabaseUnsuitable(`PostgreSQL ${server?.version ?? 'unknown'} is too old: use PostgreSQL 15 or newer`);
  }
  const [vector] = await database.query<{ installed: string | null; available: string }>(
    `SELECT installed_version AS installed, default_version AS available FROM pg_available_extensions WHERE name = 'vector'`,
  );
  if (!vector) {
    throw new DatabaseUnsuitable(
      'the PostgreSQL server has no pgvector: install it (package postgresql-NN-pgvector, or an image with pgvector) and start again',
    );
  }
  if (!vector.installed && tooOld(vector.available)) {
    throw new DatabaseUnsuitable(`pgvector ${vector.available} is too old: install pgvector 0.8 or newer and start again`);
  }
  if (vector.installed && tooOld(vector.installed)) {
    throw new DatabaseUnsuitable(
      `pgvector ${vector.installed} is too old: install pgvector 0.8 or newer, then run ALTER EXTENSION vector UPDATE and start again`,
    );
  }
}

function tooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldestVector[0] || (major === oldestVector[0] && minor < oldestVector[1]);
}
