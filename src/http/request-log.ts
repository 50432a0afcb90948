import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../metrics/metrics.js';
import { actorOf } from './authentication.js';
import type { JsonLogger } from './json-logger.js';

/** One line and one measurement a request. The route's template stands for the path: paths, queries and bodies are the client's content. */
export function logRequests(fastify: FastifyInstance, logger: JsonLogger, metrics: Metrics): void {
  fastify.addHook('onResponse', (request, reply, done) => {
    logger.records.info(factsOf(request, reply, reply.statusCode), 'request');
    const labels = { method: request.method, route: routeTemplate(request), status: String(reply.statusCode) };
    metrics.requests.observe(labels, reply.elapsedTime / 1000);
    done();
  });
  // Fastify has no reply then, and calls no onResponse; 499 is what proxies call it.
  fastify.addHook('onRequestAbort', (request, done) => {
    logger.records.info(factsOf(request, undefined, 499), 'request');
    done();
  });
}

function factsOf(request: FastifyRequest, reply: FastifyReply | undefined, status: number): Record<string, unknown> {
  const actor = actorOf(request);
  return {
    method: request.method,
    route: routeTemplate(request),
    status,
    ...(reply && { duration_ms: Math.round(reply.elapsedTime * 10) / 10 }),
    correlation_id: request.id,
    team: actor?.team,
    key: actor?.keyId,
  };
}

/** `/v1/teams/{id}/settings`; `unmatched` where no route was found. */
function routeTemplate({ is404, routeOptions }: FastifyRequest): string {
  return is404 || routeOptions.url === undefined ? 'unmatched' : routeOptions.url.replaceAll(/:([a-z_]+)/g, '{$1}');
}
