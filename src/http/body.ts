import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { HttpProblem, isHttpProblem } from './http-problem.js';
import { inexactNumber } from './validation/exact-numbers.js';

/** Largest request, bytes. */
export const bodyLimit = 1024 * 1024;
/** Of a batch. */
export const batchBodyLimit = 16 * 1024 * 1024;

/** Another limit than the usual one, for one route; bytes. */
export const BodyLimit = (bytes: number): MethodDecorator => RouteConfig({ bodyLimit: bytes });

/** Gives every route the limit that it names, before the routes are made. */
export function limitBodies(fastify: FastifyInstance): void {
  fastify.addHook('onRoute', (route) => {
    const { bodyLimit: own } = (route.config ?? {}) as { bodyLimit?: number };
    if (own !== undefined) route.bodyLimit = own;
  });
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * JSON only. Bytes that are not UTF-8 are refused rather than replaced, and an empty body is no body, because many clients
 * send the content type with every POST.
 */
export function acceptJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, ({ headers }, body: Buffer, done) => {
    try {
      // Nothing is unpacked: 64 KB could become 64 MB. Nor is what says that it is packed taken for what it is not.
      if ((headers['content-encoding'] ?? 'identity') !== 'identity')
        throw new HttpProblem(415, 'unsupported_media_type', { detail: 'Send application/json, not compressed.' });
      done(null, body.length === 0 ? undefined : parsed(body));
    } catch (error) {
      // Not the parser's words: they quote the body.
      done(isHttpProblem(error) ? error : new HttpProblem(400, 'malformed_json'), undefined);
    }
  });
}

/** @throws HttpProblem 422 `number_not_exact`; TypeError and SyntaxError for what is no UTF-8 or no JSON */
function parsed(body: Buffer): unknown {
  const text = utf8.decode(body);
  const value: unknown = JSON.parse(text);
  const field = inexactNumber(text);
  if (field !== undefined) {
    const detail = 'A number has more digits than a double holds; send it as a text.';
    throw new HttpProblem(422, 'number_not_exact', { field, detail });
  }
  return value;
}
