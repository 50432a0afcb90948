import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { ROUTE_ARGS_METADATA, RouteParamtypes } from '@nestjs/common/internal';
import type { FastifyRequest } from 'fastify';
import type { Observable } from 'rxjs';
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

/** Nest keeps a handler's parameters by `<type>:<index>`. */
function declaredInputs(context: ExecutionContext): ReadonlySet<number> {
  const parameters: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, context.getClass(), context.getHandler().name);
  return new Set(Object.keys(parameters ?? {}).map((key) => Number.parseInt(key, 10)));
}

const isObject = (input: unknown): input is object => typeof input === 'object' && input !== null && !Array.isArray(input);

const fieldsOf = (input: unknown): string[] => (isObject(input) ? Object.keys(input) : []);
