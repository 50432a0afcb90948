import { type ArgumentMetadata, Injectable, type PipeTransform } from '@nestjs/common';
import { validate, type ValidationError } from 'class-validator';
import { type FieldProblem, HttpProblem } from '../http-problem.js';
import { hydrate, type RequestClass } from './hydrate.js';
import { jsonProblem, safeName } from './json-limits.js';

/** Most unknown fields and violations that one answer names. */
const mostNamed = 20;

const plainTypes: readonly unknown[] = [String, Boolean, Number, Array, Object, Date];

/** Turns bodies and queries into instances of their classes, or says what is wrong with them without quoting them. */
@Injectable()
export class RequestPipe implements PipeTransform<unknown, unknown> {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    if ((type !== 'body' && type !== 'query') || !metatype || plainTypes.includes(metatype)) return value;
    return validated(metatype as RequestClass, value === undefined ? {} : value, type === 'body' ? 'json' : 'query');
  }
}

/**
 * @throws HttpProblem 400 `body_not_an_object`, 400 `unknown_field` naming them, 422 `validation_failed` naming field and rule
 */
export async function validated<T extends object>(type: RequestClass<T>, value: unknown, source: 'json' | 'query'): Promise<T> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw bodyNotAnObject();
  }
  const limit = jsonProblem(value);
  if (limit) throw validationFailed([limit]);
  const unknown: string[] = [];
  const instance = hydrate(type, value, source, unknown);
  if (unknown.length > 0) throw unknownFields(unknown);
  const errors = await validate(instance, { forbidUnknownValues: false, validationError: { target: false, value: false } });
  if (errors.length > 0) throw validationFailed(flatten(errors));
  return instance;
}

/** 400 `unknown_field` that names them, as far as they are plain names. */
export const bodyNotAnObject = (): HttpProblem => new HttpProblem(400, 'body_not_an_object', { detail: 'Send a JSON object.' });

export function unknownFields(names: readonly string[]): HttpProblem {
  const fields = [...new Set(names.map(safeName))].slice(0, mostNamed);
  return new HttpProblem(400, 'unknown_field', {
    ...(fields[0] !== undefined && { field: fields[0] }),
    fields: fields.map((field) => ({ field, rule: 'unknown', message: 'there is no such field' })),
  });
}

function validationFailed(fields: readonly FieldProblem[]): HttpProblem {
  const [first] = fields;
  return new HttpProblem(422, 'validation_failed', {
    ...(first && { field: first.field }),
    fields: fields.slice(0, mostNamed),
  });
}

function flatten(errors: readonly ValidationError[], path = ''): FieldProblem[] {
  return errors.flatMap(({ property, constraints, children }) => {
    const field = path === '' ? property : /^\d+$/.test(property) ? `${path}[${property}]` : `${path}.${property}`;
    const own = Object.entries(constraints ?? {}).map(([rule, message]) => ({ field, rule: snakeCase(rule), message }));
    return [...own, ...flatten(children ?? [], field)];
  });
}

const snakeCase = (rule: string): string => rule.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
