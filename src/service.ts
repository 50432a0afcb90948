import { CommandBus } from '@nestjs/cqrs';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ensureFirstAdminKey } from './access/first-admin-key.js';
import { AppModule } from './app.module.js';
import type { Configuration } from './config/configuration.js';
import { createApplication } from './http/application.js';
import { LocalOperator } from './http/local-operator.js';
import { type Infrastructure, openInfrastructure, type Overrides } from './infrastructure.js';

export interface RunningService {
  readonly url: string;
  /** Key of the operator who runs this process; it ends with the process. */
  readonly localOperatorKey: string;
  readonly infrastructure: Infrastructure;
  /** Answers what it has accepted, then ends. */
  stop(): Promise<void>;
}

/** Another process listens there. */
export class PortInUse extends Error {
  readonly code = 'port_in_use';

  constructor(host: string, port: number) {
    super(`port ${port} of ${host} is in use; set MNEME_PORT to another one`);
  }
}

/**
 * Starts the whole service: infrastructure, then HTTP. The embedded default gets its first admin key, and names its address
 * in the data folder for the command line.
 *
 * @throws PortInUse, and what `openInfrastructure` throws; nothing is left running then
 */
export async function startService(configuration: Configuration, overrides: Overrides = {}): Promise<RunningService> {
  const infrastructure = await openInfrastructure(configuration, overrides);
  let app: NestFastifyApplication | undefined;
  const stop = async () => {
    try {
      await app?.close();
    } finally {
      await infrastructure.stop();
    }
  };
  try {
    app = await createApplication(AppModule.on(infrastructure), { maxConnections: configuration.http.maxConnections });
    await listen(app, configuration.http);
    const url = addressOf(await app.getUrl());
    const { folder, clock } = infrastructure;
    if (folder) await ensureFirstAdminKey(app.get(CommandBus), clock, folder);
    folder?.announce(url);
    return { url, localOperatorKey: app.get(LocalOperator).key, infrastructure, stop };
  } catch (error) {
    await stop().catch(() => undefined); // what stopped the start says more
    throw error;
  }
}

async function listen(app: NestFastifyApplication, { host, port }: Configuration['http']): Promise<void> {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'EADDRINUSE' ? new PortInUse(host, port) : error;
  }
}

/** Nest says [::1] for every loopback address it does not know; a client on this machine reaches 127.0.0.1. */
const addressOf = (url: string): string =>
  url.replace('[::1]', '127.0.0.1').replace('0.0.0.0', '127.0.0.1').replace('[::]', '127.0.0.1');
