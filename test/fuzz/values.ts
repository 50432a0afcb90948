import { hostileJson, hostileText } from './hostile.js';
import type { Api, Schema } from './operations.js';
import type { Random } from './random.js';

/** Ids by the name of the field that gave them. */
export type Ids = Readonly<Record<string, readonly string[]>>;

/** What values are made from. */
export interface Making {
  readonly api: Api;
  readonly random: Random;
  readonly ids: Ids;
  /** Texts that the service gave out. */
  readonly tokens: readonly string[];
  /** Stands in every text that is content. */
  readonly word: string;
}

/** A value that the schema allows, as far as it says: rules in words only are not known here. */
export function validValue(schema: Schema, making: Making, name = ''): unknown {
  const { api, random } = making;
  const {
    type,
    properties = {},
    required = [],
    items,
    minItems = 0,
    minimum = 0,
    maximum = 1_000,
    ...known
  } = api.resolve(schema);
  if (known.enum) return random.pick(known.enum);
  switch (type) {
    case 'object':
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([property]) => required.includes(property) || random.chance(0.4))
          .map(([property, of]) => [property, validValue(of, making, property)]),
      );
    case 'array':
      return Array.from({ length: minItems + random.below(3) }, () => validValue(items ?? {}, making, name));
    case 'integer':
      return minimum + random.below(Math.min(maximum - minimum, 50) + 1);
    case 'number':
      return random.pick([0, 0.25, 0.5, 1]);
    case 'boolean':
      return random.chance(0.5);
    default:
      return validText({ ...known, ...(type !== undefined && { type }) }, making, name);
  }
}

function validText({ format, pattern, maxLength = 100 }: Schema, { random, ids, tokens, word }: Making, name: string): string {
  if (/position|cursor/.test(name) && tokens.length > 0) return random.pick(tokens);
  if (format === 'uuid') return anyId(random, ids, name);
  if (format === 'date-time') return `20${20 + random.below(20)}-0${1 + random.below(9)}-1${random.below(10)}T00:00:00Z`;
  if (pattern !== undefined) return random.pick(['default', 'support', 'a', 'b-1']);
  const text = `${random.pick(['refund an order', 'close the ticket', 'x', 'Ärger & Öl'])} ${word} ${random.below(20)}`;
  return text.slice(-Math.max(1, Math.min(maxLength, 200))).trim();
}

/** An id that a field of that name once had, where there is one. */
export function anyId(random: Random, ids: Ids, name: string): string {
  const known = ids[name] ?? ids[random.pick(Object.keys(ids))] ?? [];
  return known.length > 0 ? random.pick(known) : '00000000-0000-4000-8000-000000000000';
}

/** Names of fields that no operation has. Those that could be echoed have no canary: a plain unknown name is named by design. */
const strangeNames: readonly ((word: string) => string)[] = [
  () => 'colour',
  () => '__proto__',
  () => 'constructor',
  () => 'toString',
  (word) => `${word} name`,
  (word) => `<b>${word}`,
  (word) => `${word}\u0000`,
  (word) => `\ud800${word}`,
  (word) => `a b ${word}${'x'.repeat(2_000)}`,
  () => '',
];

/** JSON text of the value after some of its parts were made hostile. @param changes how many */
export function hostileBody(value: unknown, changes: number, { random, word }: Making): string {
  const raw: string[] = [];
  const stand = (text: string): string => `\u0001${raw.push(text) - 1}\u0001`;
  let changed = value;
  for (let change = 0; change < changes; change += 1) changed = changedValue(changed, random, word, stand);
  // Names are JSON of their own, and so are the values that stand in for raw text.
  return JSON.stringify(changed).replace(/"\\u0001(\d+)\\u0001"/g, (_, index: string) => raw[Number(index)] ?? '');
}

function changedValue(value: unknown, random: Random, word: string, stand: (text: string) => string): unknown {
  const deeper = typeof value === 'object' && value !== null && Object.keys(value).length > 0 && random.chance(0.8);
  if (!deeper) return random.chance(0.3) ? hostileText(random, word) : stand(hostileJson(random, word));
  if (Array.isArray(value)) {
    const at = random.below(value.length);
    return value.map((item: unknown, index) => (index === at ? changedValue(item, random, word, stand) : item));
  }
  const entries = Object.entries(value);
  const at = random.below(entries.length);
  switch (random.below(6)) {
    case 0:
      return Object.fromEntries(entries.filter((_, index) => index !== at));
    case 1: {
      // The name may be a second one of what is there already: JSON allows that, and the last one counts.
      const name = random.chance(0.3) ? (entries[at]?.[0] ?? 'a') : random.pick(strangeNames)(word);
      return Object.fromEntries([...entries, [stand(JSON.stringify(name)), stand(hostileJson(random, word))]]);
    }
    default:
      return Object.fromEntries(
        entries.map(([name, member], index) => [name, index === at ? changedValue(member, random, word, stand) : member]),
      );
  }
}
