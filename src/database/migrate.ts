import { join } from 'node:path';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import { packageRoot } from '../config/package-root.js';
import type { Database } from './database.js';
import { databaseError } from './errors.js';

/**
 * Brings the tables that cannot be rebuilt up to date: numbered SQL files of `migrations/`, each once, under a lock so
 * that several services may start together. Read models are not here; the projection engine makes their schemas.
 *
 * @returns names of the migrations that ran
 */
export async function migrate(database: Database): Promise<string[]> {
  const client = new pg.Client({ connectionString: database.url });
  try {
    await client.connect();
    const ran = await runner({
      dbClient: client,
      dir: join(packageRoot, 'migrations'),
      migrationsSchema: 'mneme',
      migrationsTable: 'migrations',
      createMigrationsSchema: true,
      direction: 'up',
      // Session locks mean nothing in the embedded database, whose connections share one session and whose folder is locked.
      noLock: database.embedded,
      advisoryLockMode: 'wait',
      log: () => undefined,
      verbose: false,
    });
    return ran.map(({ name }) => name);
  } catch (error) {
    throw databaseError(error);
  } finally {
    await client.end();
  }
}
