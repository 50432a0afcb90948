import { FastifyAdapter } from '@nestjs/platform-fastify';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { bodyLimit } from './body.js';
import { correlationIdOf } from './correlation.js';
import { type Problem, problemBody, problemOf } from './problem.js';
import { commonHeaders, problemType, sendProblem } from './problem-reply.js';

/** What one client may hold of this process; times in milliseconds. */
export interface ConnectionLimits {
  /** Open connections at most; more are closed as soon as they open. */
  readonly maxConnections?: number;
  /** How long a request may take to arrive, and its headers alone. A connection that sends nothing counts too. */
  readonly requestTimeoutMs?: number;
  readonly headersTimeoutMs?: number;
  /** How often that is looked at. */
  readonly checkingIntervalMs?: number;
}

/** How long an idle connection is kept: longer than the 60 seconds after which balancers let go of theirs. */
const keepAliveMs = 72_000;
/** All headers of a request together, bytes. */
const maxHeaderSize = 16 * 1024;

/** Fastify as we run it: the correlation id is the request's id, bodies are limited, proxies are not believed. */
export function fastifyAdapter({
  maxConnections = Infinity,
  requestTimeoutMs = 60_000,
  headersTimeoutMs = 20_000,
  checkingIntervalMs = 5_000,
}: ConnectionLimits = {}): FastifyAdapter {
  const adapter = new FastifyAdapter({
    bodyLimit,
    trustProxy: false,
    requestIdHeader: false,
    genReqId: ({ headers }: { headers: Record<string, string | string[] | undefined> }) =>
      correlationIdOf(headers['x-correlation-id']),
    routerOptions: { maxParamLength: 200 },
    // Fastify's default is to wait for ever for a body that never comes, and nobody needs a key to send headers.
    requestTimeout: requestTimeoutMs,
    keepAliveTimeout: keepAliveMs,
    http: {
      headersTimeout: headersTimeoutMs,
      connectionsCheckingInterval: checkingIntervalMs,
      maxHeaderSize,
      // Node would refuse a request without one in its own words, which are no problem; see `refuseMalformed`.
      requireHostHeader: false,
    },
    // Ours says so in a problem; see `refuseWhileStopping`.
    return503OnClosing: false,
    // What the router refuses before any hook or filter runs.
    frameworkErrors: (error: Error, request: FastifyRequest, reply: FastifyReply) =>
      sendProblem(reply, problemOf(error), request.id),
    clientErrorHandler: (error, socket) => answerBrokenHttp(error, socket),
  });
  const fastify = adapter.getInstance();
  const { server } = fastify;
  refuseMalformed(fastify);
  // An expectation that nobody knows is no reason to refuse what can be answered; Node would, in its own words.
  server.on('checkExpectation', (request, reply) => server.emit('request', request, reply));
  if (Number.isFinite(maxConnections)) server.maxConnections = maxConnections;
  return adapter;
}

/** What HTTP/1.1 asks of a request and Node's parser does not. */
function refuseMalformed(fastify: FastifyInstance): void {
  fastify.addHook('onRequest', ({ raw: { headers, httpVersion }, id }, reply, done) => {
    if (headers.host !== undefined || httpVersion === '1.0') done();
    else sendProblem(reply, { status: 400, code: 'malformed_request' }, id);
  });
}

/** What Node's parser refuses, by its code: there is no request, only a socket. */
const parserErrors: Readonly<Record<string, Problem>> = {
  HPE_HEADER_OVERFLOW: { status: 431, code: 'headers_too_large' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout' },
};

/** The answer that Node has under way on a connection. */
type UnderWay = Pick<ServerResponse, 'headersSent'> & { readonly req: Pick<IncomingMessage, 'complete'> };

function answerBrokenHttp({ code = '' }: NodeJS.ErrnoException, socket: Socket & { _httpMessage?: UnderWay | null }): void {
  if (code === 'ECONNRESET' || socket.destroyed) return;
  // While an earlier request of the connection has no whole answer yet, the client would take ours for it. Nothing is better.
  // The request that is broken may have its answer under way too: that one has not come whole.
  const underWay = socket._httpMessage;
  const owed = underWay !== undefined && underWay !== null && (underWay.req.complete || underWay.headersSent);
  if (socket.writable && !owed) {
    const problem = parserErrors[code] ?? { status: 400, code: 'malformed_request' };
    const correlationId = correlationIdOf(undefined);
    const body = JSON.stringify(problemBody(problem, correlationId));
    const headers = {
      ...commonHeaders(correlationId),
      'content-type': problemType,
      'content-length': String(Buffer.byteLength(body)),
      connection: 'close',
    };
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    socket.write(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ''}\r\n${lines.join('')}\r\n${body}`);
  }
  socket.destroy(); // what follows on this connection cannot be told from the broken part
}
