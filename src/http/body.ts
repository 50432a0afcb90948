import type { FastifyInstance } from 'fastify';
import { HttpProblem } from './http-problem.js';

/** Largest request, bytes. */
export const bodyLimit = 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * JSON only. Bytes that are not UTF-8 are refused rather than replaced, and an empty body is no body, because many clients
 * send the content type with every POST.
 */
export function acceptJson(fastify: FastifyInstance): void {
  fastify.removeAllContentTypeParsers();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_request, body: Buffer, done) => {
    try {
      done(null, body.length === 0 ? undefined : (JSON.parse(utf8.decode(body)) as unknown));
    } catch {
      // Not the parser's words: they quote the body.
      done(new HttpProblem(400, 'malformed_json'), undefined);
    }
  });
}
