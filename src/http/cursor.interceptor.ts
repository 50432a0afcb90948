import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { FastifyRequest } from 'fastify';
import { mergeMap, type Observable } from 'rxjs';
import { systemTeam } from '../event-log/stream-name.js';
import { actorOf } from './authentication.js';
import { type CursorPlace, Cursors } from './cursors.js';
import { parametersOf } from './route-parameters.js';
import { declaredProperties, type RequestClass } from './validation/hydrate.js';

/** What may change from page to page of one list. */
const perPage = new Set(['cursor', 'limit', 'max_events', 'min_position']);

/** Signs the `next_cursor` of every list, and checks the `cursor` that comes back; handlers see their own texts only. */
@Injectable()
export class CursorInterceptor implements NestInterceptor {
  constructor(private readonly cursors: Cursors) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    if (!takesCursor(context)) return next.handle();
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const query = request.query as Record<string, unknown>;
    const place = placeOf(request, query);
    if (query.cursor !== undefined) query.cursor = await this.cursors.verified(query.cursor, place);
    return next.handle().pipe(mergeMap((answer: unknown) => this.signed(answer, place)));
  }

  private async signed(answer: unknown, place: CursorPlace): Promise<unknown> {
    if (typeof answer !== 'object' || answer === null || !('next_cursor' in answer)) return answer;
    const { next_cursor } = answer;
    return typeof next_cursor === 'string' ? { ...answer, next_cursor: await this.cursors.sign(next_cursor, place) } : answer;
  }
}

const isQuery = (source: number): boolean => source === (RouteParamtypes.QUERY as number);

const takesCursor = (context: ExecutionContext): boolean =>
  parametersOf(context).some(
    ({ source, type }) => isQuery(source) && typeof type === 'function' && declaredProperties(type as RequestClass).has('cursor'),
  );

function placeOf(request: FastifyRequest, query: Readonly<Record<string, unknown>>): CursorPlace {
  const filters = Object.entries(query).filter(([name]) => !perPage.has(name));
  filters.sort(([one], [other]) => (one < other ? -1 : 1));
  return [
    actorOf(request)?.team ?? systemTeam,
    request.routeOptions.url ?? null,
    request.params as Record<string, unknown>,
    Object.fromEntries(filters),
  ];
}
