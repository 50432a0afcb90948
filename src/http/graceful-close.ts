import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

/** How often a closing server looks whether it still owes answers, milliseconds. */
const lookMs = 20;

/**
 * Closes an application without losing an answer it owes.
 *
 * `close` alone waits for every open connection, and a connection on which no request ever came does not count as idle: one
 * client that connected ahead of time would hold the service up for a minute.
 */
export class GracefulClose {
  private readonly owed = new Set<ServerResponse>();
  private readonly app: NestFastifyApplication;

  /** @param app before it listens */
  constructor(app: NestFastifyApplication) {
    this.app = app;
    app
      .getHttpAdapter()
      .getInstance()
      .addHook('onRequest', (_request, { raw }, done) => {
        this.owed.add(raw);
        raw.once('close', () => this.owed.delete(raw));
        done();
      });
  }

  /** @param patienceMs how long answers may still take; connections are cut afterwards */
  async close(patienceMs = 30_000): Promise<void> {
    const deadline = performance.now() + patienceMs;
    let closed = false;
    const closing = this.app.close().finally(() => (closed = true));
    const server = this.app.getHttpServer();
    while (!isTrue(closed)) {
      if (this.owed.size === 0 || performance.now() > deadline) server.closeAllConnections();
      await Promise.race([closing, sleep(lookMs)]);
    }
    await closing;
  }
}

/** Read anew each time: the compiler does not see that a callback changes it. */
const isTrue = (value: boolean): boolean => value;
