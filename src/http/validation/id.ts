import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { fieldProblem } from '../http-problem.js';
import { parseUuid } from './fields.js';

/** A UUID of the path in lower case. @throws HttpProblem 422 naming the field */
@Injectable()
export class UuidPipe implements PipeTransform<unknown, string> {
  constructor(private readonly field: string) {}

  transform(value: unknown): string {
    const id = parseUuid(value);
    if (id === undefined) throw fieldProblem(this.field, 'uuid', 'must be a UUID');
    return id;
  }
}

/** Parameter: a UUID of the path. */
export const Id =
  (name = 'id'): ParameterDecorator =>
  (target, method, index) => {
    Param(name, new UuidPipe(name))(target, method, index);
    const descriptor = method === undefined ? undefined : Object.getOwnPropertyDescriptor(target, method);
    if (method !== undefined && descriptor) ApiParam({ name, type: String, format: 'uuid' })(target, method, descriptor);
  };
