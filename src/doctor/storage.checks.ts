import type { Configuration } from '../config/configuration.js';
import { Database } from '../database/database.js';
import { DataFolder, DataFolderInUse } from '../database/embedded/data-folder.js';
import { startEmbeddedPostgres } from '../database/embedded/embedded-postgres.js';
import { exceptionType } from '../embedding/errors.js';
import { isInvalidConnectionString } from '../event-log/eventstoredb/connection-string.js';
import { EventStoreDbEventLog } from '../event-log/eventstoredb/eventstoredb-event-log.js';
import { PostgresEventLog } from '../event-log/postgres/postgres-event-log.js';
import { checkDatabase, unreachable } from './database.check.js';
import { checkMasterKey } from './encryption.check.js';
import { checkEventLog } from './event-log.check.js';
import { findingsOf, type Finding } from './finding.js';
import { checkEmbeddings, checkProjections } from './read-model.checks.js';

/** What every check may look at. */
export interface Looking {
  readonly configuration: Configuration;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

export async function checkServerDatabase(looking: Looking, url: string): Promise<Finding[]> {
  const database = new Database(url, false, 2);
  try {
    return await checkContents(looking, database, looking.configuration.masterKey);
  } finally {
    await database.close();
  }
}

/** Starts the database of the data folder for the time of the look, with the folder locked. */
export async function checkFolderDatabase(looking: Looking): Promise<Finding[]> {
  let folder: DataFolder | undefined;
  try {
    folder = DataFolder.open(looking.configuration.dataFolder);
    return await checkFolder(looking, folder);
  } catch (error) {
    if (error instanceof DataFolderInUse)
      return [findingsOf('data folder').failed('a process began to use it just now', 'ask again in a moment')];
    const message = `the database of the data folder cannot be opened (${exceptionType(error)})`;
    return [findingsOf('database').failed(message, 'restore the folder from a copy, if it is damaged')];
  } finally {
    folder?.release();
  }
}

async function checkFolder(looking: Looking, folder: DataFolder): Promise<Finding[]> {
  const embedded = await startEmbeddedPostgres(folder.databaseDirectory);
  const database = new Database(embedded.url, true, 1);
  try {
    return await checkContents(looking, database, looking.configuration.masterKey ?? folder.masterKey());
  } finally {
    await database.close();
    await embedded.stop();
  }
}

async function checkContents(looking: Looking, database: Database, masterKey: Buffer | undefined): Promise<Finding[]> {
  const { findings, usable } = await checkDatabase(database, looking.now);
  if (!usable) return [...findings, ...(await checkEventLogServer(looking))];
  try {
    const key = masterKey ? [await checkMasterKey(database, masterKey)] : [];
    const { findings: ofLog, head } = await checkLog(looking, database);
    const readModels = [...(await checkProjections(database, head)), ...(await checkEmbeddings(database))];
    return [...findings, ...key, ...ofLog, ...readModels];
  } catch (error) {
    return [...findings, unreachable(error)];
  }
}

/** The log alone, where it is on a server of its own. */
export async function checkEventLogServer(looking: Looking): Promise<Finding[]> {
  if (looking.configuration.eventLog.kind !== 'eventstoredb') return [];
  return (await checkLog(looking, undefined)).findings;
}

async function checkLog({ configuration, now }: Looking, database: Database | undefined) {
  const { eventLog, streamPrefix } = configuration;
  switch (eventLog.kind) {
    case 'postgres': {
      if (!database) return { findings: [], head: undefined };
      const log = new PostgresEventLog(database);
      try {
        return await checkEventLog({ log, streamPrefix, kind: 'PostgreSQL' }, database, now);
      } finally {
        await log.close();
      }
    }
    case 'eventstoredb': {
      let log: EventStoreDbEventLog;
      try {
        log = new EventStoreDbEventLog({ connectionString: eventLog.url, readDeadlineMs: 5_000 });
      } catch (error) {
        if (!isInvalidConnectionString(error)) throw error;
        return { findings: [findingsOf('event log').failed(error.message, 'correct EVENTSTORE_URL')], head: undefined };
      }
      try {
        const server = () => log.server();
        return await checkEventLog({ log, streamPrefix, kind: 'EventStoreDB', server }, database, now);
      } finally {
        await log.close();
      }
    }
    default:
      return eventLog satisfies never;
  }
}
