import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions } from '@nestjs/swagger';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsObject,
  ValidateBy,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';
import { isSlug, slugPattern, slugRule } from '../../slug.js';
import { codePoints, isStorable } from '../../text.js';
import { isUuid } from '../../uuid.js';
import { type PropertyShape, type RequestClass, shapeProperty } from './hydrate.js';
import { parseTimestamp } from './timestamp.js';

/**
 * Rules of request fields. Each says its part of the OpenAPI document too, so that a rule and its description cannot differ.
 * Messages are fixed texts: they never quote the value.
 */
export interface FieldOptions {
  readonly description?: string;
  readonly example?: unknown;
  /** The field is a list of such values. */
  readonly list?: { readonly min?: number; readonly max: number };
}

interface Rule {
  readonly name: string;
  readonly message: string;
  readonly holds: (value: unknown) => boolean;
  readonly schema: Record<string, unknown>;
  readonly shape?: PropertyShape;
}

function field(
  { name, message, holds, schema, shape }: Rule,
  { description, example, list }: FieldOptions = {},
): PropertyDecorator {
  const each: ValidationOptions = list ? { each: true } : {};
  const documented = {
    ...(list ? { type: 'array', items: schema, minItems: list.min ?? 0, maxItems: list.max } : schema),
    ...(description !== undefined && { description }),
    ...(example !== undefined && { example }),
  } as ApiPropertyOptions;
  return applyDecorators(
    ApiProperty(documented),
    ValidateBy({ name, validator: { validate: holds, defaultMessage: () => message } }, each),
    ...(list ? listRules(list) : []),
    shaped({ ...shape, list: list !== undefined }),
  );
}

const listRules = ({ min, max }: { min?: number; max: number }): PropertyDecorator[] => [
  IsArray({ message: 'must be a list' }),
  ...(min ? [ArrayMinSize(min, { message: `must have at least ${min} items` })] : []),
  ArrayMaxSize(max, { message: `must have at most ${max} items` }),
];

const shaped =
  (shape: PropertyShape): PropertyDecorator =>
  (target, property) =>
    shapeProperty(target, property, shape);

/** The field may be left out; `null` counts as left out. */
export const Optional = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ required: false }),
    ValidateIf((_, value) => value !== undefined),
    shaped({ optional: true }),
  );

/** The field may be left out, and may be `null`, which means something. */
export const Nullable = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ required: false, nullable: true }),
    ValidateIf((_, value) => value !== undefined && value !== null),
  );

/** Text of `min` to `max` Unicode code points, without U+0000 and lone surrogates; not blank, unless it may be empty. */
export const CodePoints = (min: number, max: number, options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'code_points',
      message: `must be a text of ${min} to ${max} characters${min > 0 ? ', not blank,' : ''} without U+0000 and lone surrogates`,
      holds: (value) =>
        typeof value === 'string' &&
        value.length >= min &&
        // A text has at most twice as many UTF-16 units as code points: counting is needed for the ones in between only.
        value.length <= 2 * max &&
        isStorable(value) &&
        (min === 0 || value.trim() !== '') &&
        codePoints(value) >= min &&
        codePoints(value) <= max,
      schema: { type: 'string', minLength: min, maxLength: max },
    },
    options,
  );

/** Lower-case name of 1 to 64 letters, digits and `_ . -`, that begins and ends with a letter or digit. */
export const Slug = (options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'slug',
      message: `must be ${slugRule}`,
      holds: isSlug,
      schema: { type: 'string', pattern: slugPattern.source, maxLength: 64 },
    },
    options,
  );

/** A UUID in lower case, from any spelling of its letters; undefined for anything else. */
export const parseUuid = (value: unknown): string | undefined => {
  const lower = typeof value === 'string' ? value.toLowerCase() : '';
  return isUuid(lower) ? lower : undefined;
};

/** UUID in any case; handlers see lower case. */
export const Uuid = (options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'uuid',
      message: 'must be a UUID',
      holds: (value) => parseUuid(value) !== undefined,
      schema: { type: 'string', format: 'uuid' },
      shape: { normalise: (value) => parseUuid(value) ?? value },
    },
    options,
  );

/** RFC 3339 time with offset; handlers see it in UTC with milliseconds. */
export const Timestamp = (options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'timestamp',
      message: 'must be an RFC 3339 time with offset, for example 2026-01-31T12:00:00Z',
      holds: (value) => typeof value === 'string' && parseTimestamp(value) !== undefined,
      schema: { type: 'string', format: 'date-time' },
      shape: { normalise: (value) => (typeof value === 'string' ? parseTimestamp(value)?.toISOString() : undefined) ?? value },
    },
    options,
  );

const fromNumber = (text: string): unknown => (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text);

/** Number from 0 to 1. */
export const Share = (options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'share',
      message: 'must be a number from 0 to 1',
      holds: (value) => typeof value === 'number' && value >= 0 && value <= 1,
      schema: { type: 'number', minimum: 0, maximum: 1 },
      shape: { fromText: fromNumber },
    },
    options,
  );

export const Integer = (min: number, max: number, options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'integer',
      message: `must be a whole number from ${min} to ${max}`,
      holds: (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
      schema: { type: 'integer', minimum: min, maximum: max },
      shape: { fromText: fromNumber },
    },
    options,
  );

export const Flag = (options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'flag',
      message: 'must be true or false',
      holds: (value) => typeof value === 'boolean',
      schema: { type: 'boolean' },
      shape: { fromText: (text) => (text === 'true' ? true : text === 'false' ? false : text) },
    },
    options,
  );

export const OneOf = (values: readonly string[], options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'one_of',
      message: `must be one of ${values.join(', ')}`,
      holds: (value) => typeof value === 'string' && values.includes(value),
      schema: { type: 'string', enum: [...values] },
    },
    options,
  );

/** An opaque text that a client sends back as it got it: a position, a cursor. Its meaning is checked where it is read. */
export const Opaque = (options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'opaque',
      message: 'must be a text that this service gave out',
      holds: (value) => typeof value === 'string' && /^[A-Za-z0-9_-]{1,500}$/.test(value),
      schema: { type: 'string', maxLength: 500 },
    },
    options,
  );

/** A JSON object of any shape, at most `maxBytes` of UTF-8 when written; nesting and strings are bounded for the whole body. */
export const JsonObject = (maxBytes: number, options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'json_object',
      message: `must be a JSON object of at most ${maxBytes} bytes`,
      holds: (value) =>
        typeof value === 'object' &&
        value !== null &&
        !Array.isArray(value) &&
        Buffer.byteLength(JSON.stringify(value)) <= maxBytes,
      schema: { type: 'object', additionalProperties: true },
    },
    options,
  );

export interface ScalarLimits {
  readonly entries: number;
  /** Code points of a name, and of a text. */
  readonly name: number;
  readonly text: number;
}

/** A JSON object whose values are texts, numbers, booleans or null. */
export const Scalars = (limits: ScalarLimits, options?: FieldOptions): PropertyDecorator =>
  field(
    {
      name: 'scalars',
      message:
        `must be an object of at most ${limits.entries} texts, numbers, booleans or nulls, with names of 1 to ${limits.name} ` +
        `and texts of at most ${limits.text} characters`,
      holds: (value) => areScalars(value, limits),
      schema: {
        type: 'object',
        additionalProperties: { nullable: true, oneOf: [{ type: 'string' }, { type: 'number' }, { type: 'boolean' }] },
        maxProperties: limits.entries,
      },
    },
    options,
  );

function areScalars(value: unknown, { entries, name, text }: ScalarLimits): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const all = Object.entries(value) as [string, unknown][];
  const isScalar = (scalar: unknown) =>
    scalar === null ||
    ['number', 'boolean'].includes(typeof scalar) ||
    (typeof scalar === 'string' && codePoints(scalar) <= text);
  return all.length <= entries && all.every(([key, scalar]) => key !== '' && codePoints(key) <= name && isScalar(scalar));
}

/** An object with fields of its own. */
export const Nested = (type: () => RequestClass, { description }: FieldOptions = {}): PropertyDecorator =>
  applyDecorators(
    // Not `type` itself: Swagger takes a function for lazy only when its own name is "type".
    ApiProperty({ type: () => type(), ...(description !== undefined && { description }) }),
    IsObject({ message: 'must be an object' }),
    ValidateNested({ message: 'must be an object' }),
    shaped({ nested: type }),
  );
