import canonicalize from 'canonicalize';

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [name: string]: JsonValue;
}

/** A value that JSON cannot hold without loss. Names the place and kind of the value, never the value. */
export class EventNotEncodable extends Error {
  readonly code = 'event_not_encodable';

  constructor(
    readonly eventType: string,
    reason: string,
  ) {
    super(`${eventType}: ${reason}`);
  }
}

export const isEventNotEncodable = (error: unknown): error is EventNotEncodable => error instanceof EventNotEncodable;

/** Deeper values come from no model or person we know, and would end in an overflow of the stack, which is no clear error. */
export const maxJsonDepth = 200;

/**
 * The JSON value of an event's field: dates become ISO strings, undefined properties are left out.
 *
 * @throws EventNotEncodable for whatever JSON would drop or distort in silence: bigint, NaN, infinities, undefined in a
 * list, lone surrogates, cycles, functions, symbols, maps, sets, buffers, invalid dates, more than 200 levels
 */
export function jsonValue(eventType: string, value: unknown): JsonValue {
  const refuse = (path: string, reason: string): never => {
    throw new EventNotEncodable(eventType, `${path || 'the event'} is ${reason}`);
  };

  const text = (path: string, value: string): string =>
    /\p{Surrogate}/u.test(value) ? refuse(path, 'text with half a surrogate pair') : value;

  const members = (path: string, value: object, depth: number): JsonValue => {
    if (depth > maxJsonDepth) return refuse(path, `nested more than ${maxJsonDepth} levels deep, or in a circle`);
    if (Array.isArray(value)) return Array.from(value as unknown[], (item, index) => convert(`${path}[${index}]`, item, depth));
    const kind = Object.prototype.toString.call(value).slice('[object '.length, -1);
    if (kind !== 'Object') return refuse(path, `a ${kind}`);
    // fromEntries, because assigning a member called __proto__ would lose it
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, member]) => member !== undefined)
        .map(([name, member]) => [text(`a name in ${path}`, name), convert(path ? `${path}.${name}` : name, member, depth)]),
    );
  };

  const convert = (path: string, value: unknown, depth: number): JsonValue => {
    switch (typeof value) {
      case 'string':
        return text(path, value);
      case 'number':
        return Number.isFinite(value) ? value : refuse(path, 'not a finite number');
      case 'boolean':
        return value;
      case 'object':
        if (value === null) return null;
        if (!(value instanceof Date)) return members(path, value, depth + 1);
        return Number.isNaN(value.getTime()) ? refuse(path, 'an invalid date') : value.toISOString();
      default:
        return refuse(path, typeof value);
    }
  };

  return convert('', value, 0);
}

// The package is CommonJS and exports the function itself, which its type declarations describe as a default export.
const serialize = canonicalize as unknown as (value: JsonValue) => string;

/** The canonical form of RFC 8785: one text for one value, whatever the order of names. */
export const canonicalJson = (value: JsonValue): string => serialize(value);
