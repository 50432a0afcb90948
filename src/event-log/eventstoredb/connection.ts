import { GuardedClient } from './client.js';
import { readConnectionString, withoutCredentials, type ClientSettings } from './connection-string.js';

/** Takes what an operator should know. pino's loggers fit. */
export interface LogLogger {
  warn(fields: object, message: string): void;
}

const silent: LogLogger = { warn: () => undefined };

/** The one connection of this process. */
let shared: Connection | undefined;

/**
 * The connection of this process to its event log. There is one, whoever asks: the client keeps the appends that wait for
 * an answer in one place for all its connections, and when one of them fails, it fails the appends of all.
 *
 * @param answerMs see GuardedClient; this and the logger are those of whoever opens it first
 * @throws InvalidConnectionString, and Error when the process is connected to another server
 */
export function openConnection(connectionString: string, answerMs: number, logger: LogLogger = silent): Connection {
  if (shared && shared.connectionString !== connectionString)
    throw new Error(`this process is connected to ${withoutCredentials(shared.connectionString)}; close that event log first`);
  shared ??= new Connection(connectionString, answerMs, logger);
  shared.users++;
  return shared;
}

/** Whoever opens it closes it. */
export class Connection {
  users = 0;
  private readonly settings: ClientSettings;
  private latest: GuardedClient;
  private current: Promise<GuardedClient>;

  constructor(
    readonly connectionString: string,
    private readonly answerMs: number,
    private readonly logger: LogLogger,
  ) {
    this.settings = readConnectionString(connectionString);
    this.latest = new GuardedClient(this.settings, this.answerMs);
    this.current = Promise.resolve(this.latest);
  }

  /** The client to use now. Ask anew for every call. */
  client(): Promise<GuardedClient> {
    return this.current;
  }

  /**
   * Replaces a client that does not work any more; nothing when that has been done already. The old one is gone before the
   * new one is used, for the two would share their waiting appends.
   */
  renew(failed: GuardedClient, reason: string): void {
    if (failed !== this.latest || shared !== this) return;
    this.logger.warn({ server: withoutCredentials(this.connectionString), reason }, 'connecting to the event log anew');
    this.latest = new GuardedClient(this.settings, this.answerMs);
    const fresh = this.latest;
    this.current = failed.giveUp().then(() => fresh);
  }

  async close(): Promise<void> {
    this.users--;
    if (this.users > 0) return;
    shared = undefined;
    await this.current;
    await this.latest.giveUp();
  }
}
