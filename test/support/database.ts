import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';

/** The PostgreSQL of this run: the server of `MNEME_TEST_DATABASE_URL`, else the embedded one of the global setup. */
export function testDatabaseUrl(): { url: string; embedded: boolean } {
  const server = process.env.MNEME_TEST_DATABASE_URL;
  if (server) return { url: server, embedded: false };
  const embedded = process.env.MNEME_TEST_EMBEDDED_URL;
  if (!embedded) throw new Error('no test database: run the tests with npm test');
  return { url: embedded, embedded: true };
}

/** An empty, migrated database. Close it at the end of the file. */
export async function freshDatabase(): Promise<Database> {
  const { url, embedded } = testDatabaseUrl();
  const database = new Database(url, embedded, 10);
  await dropEverything(database);
  await migrate(database);
  return database;
}

/** Drops every schema of ours, tables and read models alike. */
export async function dropEverything(database: Database): Promise<void> {
  const schemas = await database.query<{ name: string }>(
    `SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^mneme(_|$)'`,
  );
  for (const { name } of schemas) await database.query(`DROP SCHEMA "${name}" CASCADE`);
}
