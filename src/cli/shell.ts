import { Configuration, readConfiguration } from '../config/configuration.js';
import { readAdminKey, runningService } from '../database/embedded/data-folder.js';
import type { RunningService } from '../service.js';
import { Client } from './client.js';
import { configurationFailure } from './failure.js';
import type { Output } from './output.js';
import { inTemporaryFolder } from './temporary-folder.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** A service that only this process speaks to. */
const quiet: Environment = { MNEME_HOST: '127.0.0.1', MNEME_PORT: '0', MNEME_LOG_LEVEL: 'silent' };

/** Nobody else shares such a service, so that nothing needs limits. */
const alone: Environment = {
  ...quiet,
  MNEME_RATE_LIMIT_READS: '0',
  MNEME_RATE_LIMIT_WRITES: '0',
  MNEME_RATE_LIMIT_EXPENSIVE: '0',
};

/** The user's settings but for where things are stored, whichever of the environment and the file of settings names it. */
const temporary = (configuration: Configuration, dataFolder: string): Configuration =>
  Object.assign(Object.create(Configuration.prototype) as Configuration, configuration, {
    dataFolder,
    database: { ...configuration.database, url: undefined },
    eventLog: { kind: 'postgres' },
    masterKey: undefined,
  } satisfies Partial<Configuration>);

/** What a command works with: settings, output, the signal to stop, and the service. */
export class Shell {
  constructor(
    readonly environment: Environment,
    readonly output: Output,
    /** Aborted by Ctrl-C. */
    readonly signal: AbortSignal,
  ) {}

  /** @throws ConfigurationError */
  configuration(overrides: Environment = {}): Configuration {
    return readConfiguration({ ...this.environment, ...overrides });
  }

  /**
   * Runs the work against the service: that of MNEME_URL, else the one that runs on the data folder, else one started
   * inside this process for the time of the work.
   */
  async withService<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const configuration = this.configuration();
    const address = configuration.client.url ?? this.runningOn(configuration);
    if (address !== undefined) return work(new Client(address, keyFor(configuration), this.signal));
    return this.withOwnService(this.configuration(quiet), ({ url, localOperatorKey }) =>
      work(new Client(url, configuration.client.apiKey ?? localOperatorKey, this.signal)),
    );
  }

  /** As `withService`, but where none runs, on a fresh service that leaves nothing behind: the user's own memory stays untouched. */
  async withServiceOrTemporary<T>(work: (client: Client) => Promise<T>): Promise<T> {
    const configuration = this.configuration();
    const address = configuration.client.url ?? this.runningOn(configuration);
    if (address !== undefined) return work(new Client(address, keyFor(configuration), this.signal));
    return inTemporaryFolder((folder) =>
      this.withOwnService(temporary(this.configuration(alone), folder), ({ url, localOperatorKey }) =>
        work(new Client(url, localOperatorKey, this.signal)),
      ),
    );
  }

  /** Starts a service in this process, and stops it whatever the work does; a start is not cut short, so that no database is left half made. */
  async withOwnService<T>(configuration: Configuration, work: (service: RunningService) => Promise<T>): Promise<T> {
    // Only here: loading the service takes longer than most commands do.
    const { startService } = await import('../service.js');
    const service = await startService(configuration);
    try {
      return await work(service);
    } finally {
      await service.stop();
    }
  }

  /** The data folder names no service when the database is a server's: one of several replicas may answer, or none. */
  private runningOn({ database, dataFolder }: Configuration): string | undefined {
    return database.url === undefined ? runningService(dataFolder)?.url : undefined;
  }
}

/** A key is never sent to a place that was not named together with it: the folder's key is for the folder's service. */
function keyFor({ client, dataFolder }: Configuration): string {
  if (client.apiKey !== undefined) return client.apiKey;
  if (client.url !== undefined) throw configurationFailure(['MNEME_API_KEY: required with MNEME_URL']);
  const key = readAdminKey(dataFolder);
  if (key === undefined) throw configurationFailure(['MNEME_API_KEY: required, the data folder holds no admin key']);
  return key;
}
