import type { FastifyReply } from 'fastify';
import { type Problem, problemBody } from './problem.js';
import { securityHeaders } from './security-headers.js';

export const problemType = 'application/problem+json; charset=utf-8';

/** Headers of every answer. */
export const commonHeaders = (correlationId: string) => ({
  'x-correlation-id': correlationId,
  ...securityHeaders,
  'cache-control': 'no-store',
});

export function sendProblem(reply: FastifyReply, problem: Problem, correlationId: string): void {
  void reply
    .status(problem.status)
    .headers({ ...commonHeaders(correlationId), ...problem.headers, 'content-type': problemType })
    .send(JSON.stringify(problemBody(problem, correlationId)));
}
