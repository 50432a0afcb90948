import { type ArgumentsHost, Catch, type ExceptionFilter, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isAborted } from '../embedding/deadline.js';
import { errorFacts } from '../error-facts.js';
import { JsonLogger } from './json-logger.js';
import { problemOf } from './problem.js';
import { sendProblem } from './problem-reply.js';
import { requestSignal } from './request-signal.js';

/** Writes every error as a problem, and logs those that are ours. */
@Catch()
@Injectable()
export class ProblemFilter implements ExceptionFilter {
  constructor(private readonly logger: JsonLogger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const gone = requestSignal(reply).aborted;
    // A request that was cut off in the middle was never carried out, and work that was cancelled for nobody's sake is no fault.
    if (gone && (!request.raw.complete || isAborted(error))) return;
    const problem = problemOf(error);
    if (problem.status >= 500) {
      const facts = { correlation_id: request.id, problem: problem.code, ...errorFacts(error) };
      if (problem.status === 503) this.logger.records.warn(facts, 'dependency unavailable');
      else this.logger.records.error(facts, 'request failed');
    }
    if (reply.sent || gone) return;
    sendProblem(reply, problem, request.id);
  }
}
