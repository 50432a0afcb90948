import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { Configuration } from '../config/configuration.js';
import { EventLog } from '../event-log/event-log.js';
import { HttpProblem } from './http-problem.js';
import { Positions } from './positions.js';
import { requestSignal } from './request-signal.js';

const projectionsMetadata = 'mneme:projections';

/** The read models that a read depends on; a `min_position` in its query or body waits for them. */
export const ReadsFrom = (...projections: [string, ...string[]]) => SetMetadata(projectionsMetadata, projections);

/** Makes a read wait until its read models have reached `min_position`, so that a client reads what it wrote. */
@Injectable()
export class MinPositionInterceptor implements NestInterceptor {
  constructor(
    private readonly reflector: Reflector,
    private readonly positions: Positions,
    private readonly engine: ProjectionEngine,
    private readonly log: EventLog,
    private readonly configuration: Configuration,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const projections = this.reflector.get<readonly string[] | undefined>(projectionsMetadata, context.getHandler());
    const http = context.switchToHttp();
    if (projections) {
      const tokens = minPositionsOf(http.getRequest<FastifyRequest>());
      for (const token of tokens) await this.reach(token, projections, requestSignal(http.getResponse<FastifyReply>()));
    }
    return next.handle();
  }

  private reach(token: string, projections: readonly string[], signal: AbortSignal): Promise<void> {
    const { positions, engine, log, configuration } = this;
    const wait = { field: 'min_position', projections, signal, patienceMs: configuration.minPositionWaitMs };
    return reachPosition({ positions, engine, log }, positions.parse(token), wait);
  }
}

/**
 * Waits until the read models have a position.
 *
 * @param wait.field of the request that named it
 * @throws HttpProblem 422 `position_beyond_head`, or 202 when they do not reach it in time; LogUnavailable, DatabaseUnavailable
 */
export async function reachPosition(
  { positions, engine, log }: { positions: Positions; engine: ProjectionEngine; log: EventLog },
  position: bigint,
  wait: { field: string; projections: readonly string[]; signal: AbortSignal; patienceMs: number },
): Promise<void> {
  const { field, projections, signal, patienceMs } = wait;
  const now = await engine.waitFor(position, 0, projections, signal);
  if (now.reached) return;
  // Only now: a position that the read models have reached cannot lie beyond the head.
  if (position > (await log.head())) throw new HttpProblem(422, 'position_beyond_head', { field });
  const later = await engine.waitFor(position, patienceMs, projections, signal);
  if (!later.reached) throw readModelBehind({ requested: positions.token(position), reached: positions.token(later.position) });
}

/** The answer to a read that came too early: 202, with the positions as tokens. */
export const readModelBehind = (positions: { readonly requested: string; readonly reached?: string }): HttpProblem =>
  new HttpProblem(202, 'read_model_behind', {
    detail: 'The write stands; the read model has not caught up with it yet. Read again.',
    headers: { 'retry-after': '1' },
    extensions: positions,
  });

/** Of the query and of the body. What is not a text is left to validation, which names the field. */
const minPositionsOf = ({ query, body }: FastifyRequest): string[] =>
  [query, body].flatMap((source) => {
    const token = source !== null && typeof source === 'object' && 'min_position' in source ? source.min_position : undefined;
    return typeof token === 'string' ? [token] : [];
  });
