import type { ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/internal';

/** One parameter of a route's handler. */
export interface RouteParameter {
  /** One of Nest's `RouteParamtypes`: body, query, a parameter of the path, and so on. */
  readonly source: number;
  /** Its class, as the compiler recorded it. */
  readonly type: unknown;
}

/** Nest keeps a handler's parameters by `<source>:<index>`, and the compiler their classes by index. */
export function parametersOf(context: ExecutionContext): RouteParameter[] {
  const controller = context.getClass();
  const { name } = context.getHandler();
  const parameters: unknown = Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, name);
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, name) as unknown[] | undefined;
  return Object.keys(parameters ?? {}).map((key) => {
    const [source = NaN, index = NaN] = key.split(':').map(Number);
    return { source, type: types?.[index] };
  });
}
