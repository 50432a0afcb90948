import type { FastifyInstance } from 'fastify';
import type { ServerResponse } from 'node:http';
import { HttpProblem } from './http-problem.js';

/** How long a client may take to read its answer once the service stops, milliseconds. */
const graceMs = 10_000;
/** How often a stopping server looks whether it still owes answers, milliseconds. */
const lookMs = 20;

/**
 * Stopping loses no answer: accepted requests are answered, new ones on open connections are sent elsewhere.
 *
 * Then connections are cut. Closing alone waits for all of them, and one on which no request ever came does not count as
 * idle: a client that connected ahead of time, or never reads its answer, would hold the stop up.
 */
export function stopGracefully(fastify: FastifyInstance): void {
  const owed = new Set<ServerResponse>();
  let stopping = false;
  fastify.addHook('onRequest', (_request, reply, done) => {
    if (stopping) {
      void reply.header('connection', 'close');
      done(new HttpProblem(503, 'stopping', { headers: { 'retry-after': '5' } }));
      return;
    }
    owed.add(reply.raw);
    reply.raw.once('close', () => owed.delete(reply.raw));
    done();
  });
  fastify.addHook('preClose', (done) => {
    stopping = true;
    const deadline = performance.now() + graceMs;
    const timer = setInterval(() => {
      if (owed.size === 0 || performance.now() > deadline) fastify.server.closeAllConnections();
    }, lookMs);
    fastify.server.once('close', () => clearInterval(timer));
    done();
  });
}
