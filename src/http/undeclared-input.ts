import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { RouteParamtypes } from '@nestjs/common/internal';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
import { parametersOf } from './route-parameters.js';
import { bodyNotAnObject, unknownFields } from './validation/request.pipe.js';

/**
 * Refuses a query or a body where the route takes none: `?dry_run=true` that nobody reads would be believed by whoever sent
 * it. Where a route takes one, `RequestPipe` names the fields it does not know.
 */
@Injectable()
export class UndeclaredInputInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { query, body } = context.switchToHttp().getRequest<FastifyRequest>();
    const declared = declaredInputs(context);
    if (!declared.has(RouteParamtypes.BODY) && body !== undefined && !isObject(body)) throw bodyNotAnObject();
    const unknown = [
      ...(declared.has(RouteParamtypes.QUERY) ? [] : fieldsOf(query)),
      ...(declared.has(RouteParamtypes.BODY) ? [] : fieldsOf(body)),
    ];
    if (unknown.length > 0) throw unknownFields(unknown);
    return next.handle();
  }
}

const declaredInputs = (context: ExecutionContext): ReadonlySet<number> =>
  new Set(parametersOf(context).map(({ source }) => source));

const isObject = (input: unknown): input is object => typeof input === 'object' && input !== null && !Array.isArray(input);

const fieldsOf = (input: unknown): string[] => (isObject(input) ? Object.keys(input) : []);
