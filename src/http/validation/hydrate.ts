import { getMetadataStorage } from 'class-validator';
import 'reflect-metadata';

/** A class of a request body or query; its properties carry the decorators of `fields.ts`. */
export type RequestClass<T extends object = object> = new () => T;

/** What hydration must know of a property beyond its rules. */
export interface PropertyShape {
  /** Class of the object that the property holds. */
  readonly nested?: () => RequestClass;
  /** The property holds a list; a query names a list of one as one value. */
  readonly list?: boolean;
  /** `null` means left out. */
  readonly optional?: boolean;
  /** From the spelling a client may use to the one that handlers see; runs before validation and leaves what it does not know. */
  readonly normalise?: (value: unknown) => unknown;
  /** Reads the text of a query parameter, which knows no numbers; leaves what it does not know. */
  readonly fromText?: (text: string) => unknown;
}

const shapeMetadata = 'mneme:shape';

export function shapeProperty(target: object, property: string | symbol, shape: PropertyShape): void {
  const known = Reflect.getMetadata(shapeMetadata, target, property) as PropertyShape | undefined;
  Reflect.defineMetadata(shapeMetadata, { ...known, ...shape }, target, property);
}

const shapeOf = (target: object, property: string): PropertyShape =>
  (Reflect.getMetadata(shapeMetadata, target, property) as PropertyShape | undefined) ?? {};

const declared = new WeakMap<RequestClass, ReadonlySet<string>>();

/** Names of the properties that carry at least one rule. */
export function declaredProperties(type: RequestClass): ReadonlySet<string> {
  const known = declared.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = new Set(rules.map(({ propertyName }) => propertyName));
  declared.set(type, names);
  return names;
}

/**
 * Makes an instance of a request class from parsed JSON or a query.
 *
 * Ours and not class-transformer's `plainToInstance`, which walks into values that no class describes: it drops the keys
 * `constructor`, `toString` and their like from a plan graph, and a graph whose `constructor` is a text crashes it.
 *
 * @param unknown gets the paths of fields that no class declares
 */
export function hydrate<T extends object>(
  type: RequestClass<T>,
  plain: object,
  source: 'json' | 'query',
  unknown: string[],
  path = '',
): T {
  const instance = new type();
  const properties = declaredProperties(type);
  for (const [name, value] of Object.entries(plain) as [string, unknown][]) {
    if (!properties.has(name)) {
      unknown.push(`${path}${name}`);
      continue;
    }
    const shape = shapeOf(type.prototype as object, name);
    const hydrated = hydrateValue(shape, value, source, unknown, `${path}${name}`);
    if (hydrated !== undefined) Object.assign(instance, { [name]: hydrated });
  }
  return instance;
}

function hydrateValue(shape: PropertyShape, value: unknown, source: 'json' | 'query', unknown: string[], path: string): unknown {
  if (value === null && shape.optional) return undefined;
  if (shape.list) {
    const items: unknown = source === 'query' && !Array.isArray(value) ? [value] : value;
    return Array.isArray(items) ? items.map((item: unknown) => converted(shape, item, source)) : items;
  }
  if (shape.nested) return isObject(value) ? hydrate(shape.nested(), value, source, unknown, `${path}.`) : value;
  return converted(shape, value, source);
}

function converted(shape: PropertyShape, value: unknown, source: 'json' | 'query'): unknown {
  const read = source === 'query' && typeof value === 'string' && shape.fromText ? shape.fromText(value) : value;
  return shape.normalise ? shape.normalise(read) : read;
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value);
