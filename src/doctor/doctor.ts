import { existsSync } from 'node:fs';
import { type Configuration, ConfigurationError, readConfiguration } from '../config/configuration.js';
import { readAdminKey, runningService } from '../database/embedded/data-folder.js';
import { checkDataFolder } from './data-folder.check.js';
import { findingsOf, type Finding } from './finding.js';
import { checkEmbedder, checkJudges } from './model.checks.js';
import { checkService } from './service.check.js';
import { checkEventLogServer, checkFolderDatabase, checkServerDatabase, type Looking } from './storage.checks.js';

export { worstOf, type Finding, type Severity } from './finding.js';

export interface Examination {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * Looks at everything an installation needs, one after the other, and changes nothing but what opening a database does.
 * What cannot be looked at because something before it failed is left out.
 *
 * @throws DOMException `AbortError` when the signal fires; every trouble it meets is a finding
 */
export async function* examine({ environment, signal, now = Date.now }: Examination): AsyncGenerator<Finding, void, undefined> {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(environment);
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    yield* error.problems.map(misconfigured);
    return;
  }
  yield findingsOf('configuration').ok('every setting is known and has a value it may have');
  const looking = { configuration, signal, now };
  yield* await checkRunning(looking);
  signal.throwIfAborted();
  if (isOnlyClient(configuration)) return;
  yield* await checkStorage(looking);
  signal.throwIfAborted();
  yield await checkEmbedder(configuration, signal);
  yield* await checkJudges(configuration, signal);
}

const misconfigured = (problem: string): Finding =>
  findingsOf('configuration').failed(problem, 'mneme configuration lists all settings; nothing else was looked at');

/** Nothing of the installation is on this machine but the address of its service. */
const isOnlyClient = ({ client, database, dataFolder }: Configuration): boolean =>
  client.url !== undefined && database.url === undefined && !existsSync(dataFolder);

/** The service that commands would speak to. */
async function checkRunning({ configuration, signal, now }: Looking): Promise<Finding[]> {
  const { client, database, dataFolder } = configuration;
  const local = database.url === undefined ? runningService(dataFolder)?.url : undefined;
  const url = client.url ?? local;
  if (url === undefined) return [findingsOf('service').ok('MNEME_URL names none, and none runs on the data folder')];
  // The key of the folder is for the folder's service, as everywhere.
  const apiKey = client.apiKey ?? (client.url === undefined ? readAdminKey(dataFolder) : undefined);
  return checkService({ url, apiKey, signal, now });
}

/** The database and what is in it; that of a data folder only while no service uses it. */
async function checkStorage(looking: Looking): Promise<Finding[]> {
  const { database, dataFolder, masterKey } = looking.configuration;
  if (database.url !== undefined) return checkServerDatabase(looking, database.url);
  const serves = runningService(dataFolder) !== undefined;
  const { findings, openable } = checkDataFolder(dataFolder, { serves, hasMasterKey: masterKey !== undefined });
  return [...findings, ...(openable ? await checkFolderDatabase(looking) : await checkEventLogServer(looking))];
}
