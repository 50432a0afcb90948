import type { Command } from 'commander';
import { Database } from '../database/database.js';
import { migrate } from '../database/migrate.js';
import { checkRequirements } from '../database/requirements.js';
import { configurationFailure } from './failure.js';
import type { Shell } from './shell.js';

/** Brings the tables of a PostgreSQL server up to date, for those who do it before the service starts. */
export function addMigrate(program: Command, shell: Shell): void {
  program
    .command('migrate')
    .description('run the migrations that the database of DATABASE_URL lacks; the service does it at every start, too')
    .action(() => migrateServer(shell));
}

async function migrateServer(shell: Shell): Promise<void> {
  const { url } = shell.configuration().database;
  if (url === undefined) {
    throw configurationFailure(['DATABASE_URL: required; the embedded database is migrated at every start']);
  }
  const ran = await migrated(url);
  shell.output.result({ ran }, () =>
    ran.length === 0 ? 'The database is up to date' : ran.map((name) => `ran ${name}`).join('\n'),
  );
}

async function migrated(url: string): Promise<string[]> {
  const database = new Database(url, false, 1);
  try {
    await checkRequirements(database);
    return await migrate(database);
  } finally {
    await database.close();
  }
}
