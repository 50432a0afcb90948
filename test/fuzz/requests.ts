import { gzipSync } from 'node:zlib';
import { canary, type Territory } from './canaries.js';
import { hostileHeader, hostileJson, hostileSegment, hostileText } from './hostile.js';
import { nonsense } from './nonsense.js';
import type { Operation } from './operations.js';
import { type Random, randomOf } from './random.js';
import { anyId, hostileBody, type Making, validValue } from './values.js';
import type { Sending } from './wire.js';
import type { KeyKind, World } from './world.js';

/** One request of a run. */
export interface FuzzRequest {
  readonly index: number;
  /** For whoever reads of a failure. */
  readonly what: string;
  readonly key: KeyKind;
  readonly territory: Territory;
  readonly operation: Operation | undefined;
  readonly sending: Sending;
}

/** The request of a number: the same in every run with this seed, but for the ids and tokens of the run's own service. */
export function fuzzRequest(world: World, seed: number, index: number): FuzzRequest {
  const random = randomOf(seed, index);
  const key = pickKey(world, random);
  const territory = key === 'b' ? 'b' : key.startsWith('a') ? 'a' : 'n';
  const word = canary(territory, index);
  const authorization = authorizationOf(world, key, word);
  if (random.chance(0.12)) {
    const { what, ...sending } = nonsense(random, word, authorization);
    return { index, what, key, territory, operation: undefined, sending };
  }
  const operation = pickOperation(world, random);
  const team = territory === 'b' || (territory === 'n' && random.chance(0.5)) ? 'b' : 'a';
  const making: Making = { api: world.api, random, ids: world.ids[team], tokens: world.tokens[team], word };
  const method = random.chance(0.95)
    ? operation.method
    : random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);
  const target = `${pathOf(operation, world, making)}${queryOf(operation, making)}`;
  const body = bodyOf(operation, making);
  const head = [`${method} ${target} HTTP/1.1`, 'host: mneme', ...authorization, ...headersOf(making, index)];
  return {
    index,
    what: `${operation.id}: ${method} ${target.slice(0, 200)}`,
    key,
    territory,
    operation,
    sending: { parts: message(random, head, body), then: 'wait', head: method === 'HEAD' },
  };
}

/** What is erased answers nothing else any more, so erasures are rare. */
function pickOperation({ api: { operations } }: World, random: Random): Operation {
  const operation = random.pick(operations);
  return operation.method === 'DELETE' && random.chance(0.7) ? random.pick(operations) : operation;
}

function pickKey({ keys }: World, random: Random): KeyKind {
  if (random.chance(0.55)) return random.pick(['a', 'a', 'a', 'b', 'operator']);
  return random.pick([...keys.keys()]);
}

function authorizationOf({ keys }: World, kind: KeyKind, word: string): string[] {
  if (kind === 'none') return [];
  if (kind === 'garbage') return [`authorization: Bearer ${word}`];
  return [`authorization: Bearer ${keys.get(kind) ?? ''}`];
}

/** What a path's `{id}` was called in the answer that gave it: `procedure_id` after `/procedures/`. */
const fieldOf = (segment: string): string => `${segment.replace(/ies$/, 'y').replace(/s$/, '')}_id`;

function pathOf({ path }: Operation, world: World, { random, ids, word }: Making): string {
  let before = '';
  const segments = path.split('/').map((segment) => {
    const field = fieldOf(before);
    before = segment;
    if (!segment.startsWith('{')) return segment;
    if (random.chance(0.12)) return hostileSegment(random, word);
    if (segment === '{name}' && random.chance(0.5)) return random.pick(world.projections);
    const known = random.chance(0.15) ? world.ids[random.pick(['a', 'b'] as const)] : ids;
    const id = anyId(random, known, field);
    return random.chance(0.1) ? id.toUpperCase() : id;
  });
  const whole = segments.join('/');
  return random.chance(0.03) ? `${whole}/${hostileSegment(random, word)}` : whole;
}

function queryOf({ inQuery }: Operation, making: Making): string {
  const { random, word } = making;
  const pairs = inQuery
    .filter(() => random.chance(0.25))
    .map(({ name, schema }) => {
      if (/cursor|position/.test(name) && random.chance(0.2)) return `${name}=${forgedToken(random, word)}`;
      if (random.chance(0.6)) return `${name}=${encodeURIComponent(String(validValue(schema, making, name)))}`;
      if (random.chance(0.3)) return `${name}=${hostileSegment(random, word)}`;
      return `${name}=${encodeURIComponent(Buffer.from(hostileText(random, word)).toString())}`;
    });
  if (random.chance(0.05)) pairs.push(random.pick(strangePairs)(word));
  if (random.chance(0.05) && pairs[0] !== undefined) pairs.push(pairs[0]);
  return pairs.length === 0
    ? ''
    : `?${pairs
        .join('&')
        .replaceAll(' ', '%20')
        .replace(/[^\x21-\x7e]/g, '')}`;
}

const strangePairs: readonly ((word: string) => string)[] = [
  () => 'dry_run=true',
  (word) => `%20${word}=1`,
  (word) => `a[${word}%20]=1`,
  () => '__proto__=1',
  () => '=',
  () => '&&&',
  () => 'limit',
  (word) => `${word}%20`,
];

const forgedToken = (random: Random, word: string): string =>
  random.pick([
    Buffer.from('["0"]').toString('base64url'),
    Buffer.from(JSON.stringify([word])).toString('base64url'),
    Buffer.from(`00000000-0000-4000-8000-000000000000@1`).toString('base64url'),
    `${'A'.repeat(22)}${Buffer.from('["9223372036854775808"]').toString('base64url')}`,
    'A'.repeat(501),
    '-1',
  ]);

interface Body {
  readonly bytes: Buffer;
  readonly headers: readonly string[];
}

const json = 'content-type: application/json';

function bodyOf({ body }: Operation, making: Making): Body {
  const { random, word } = making;
  const value = body
    ? validValue(body, making)
    : random.chance(0.8)
      ? undefined
      : { [random.pick(['a', 'reason', 'team_id'])]: word };
  if (value === undefined) return { bytes: Buffer.alloc(0), headers: random.chance(0.3) ? [json] : [] };
  const text = hostileBody(value, random.pick([0, 0, 0, 0, 1, 1, 1, 2, 4]), making);
  if (random.chance(0.9)) return { bytes: Buffer.from(text), headers: [json] };
  return spoiled(text, making);
}

function spoiled(text: string, { random, word }: Making): Body {
  const of = (bytes: Buffer | string, ...headers: string[]): Body => ({ bytes: Buffer.from(bytes as string), headers });
  const cut = random.below(text.length + 1);
  switch (random.below(14)) {
    case 0:
      return of(text.slice(0, cut), json);
    case 1:
      return of(`${text}${text}`, json);
    case 2:
      return of(`\ufeff${text}`, json);
    case 3:
      return of(
        Buffer.concat([Buffer.from(text.slice(0, cut)), Buffer.from([0xff, 0xc0, 0x80]), Buffer.from(text.slice(cut))]),
        json,
      );
    case 4:
      return of(Buffer.from(text, 'utf16le'), 'content-type: application/json; charset=utf-16');
    case 5:
      return of(hostileJson(random, word), json);
    case 6:
      return of(
        text,
        random.pick([
          'content-type: text/plain',
          'content-type: application/xml',
          `content-type: ${word}`,
          'content-type: ;;',
          'content-type: application/json; charset=x',
          'content-type: application/problem+json',
        ]),
      );
    case 7:
      return of(gzipSync(text), json, 'content-encoding: gzip');
    case 8:
      // 64 MB of zeros in 64 KB.
      return of(gzipSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 }), json, 'content-encoding: gzip');
    case 9:
      return of(
        text,
        json,
        random.pick([
          'content-encoding: gzip',
          'content-encoding: br',
          'content-encoding: identity',
          `content-encoding: ${word}`,
        ]),
      );
    case 10:
      return of(`{"a":"${word}${'x'.repeat(1_100_000)}"}`, json);
    case 11:
      return of(`${'['.repeat(100_000)}${word}`, json);
    case 12:
      return of(`${text.slice(0, cut)}${word}'${text.slice(cut)}`, json);
    default:
      return of(`a=${word}&b=c`, 'content-type: application/x-www-form-urlencoded');
  }
}

/** The correlation id may be echoed where it is fit for it: no canary goes into one that is. */
const fitForEcho = /^[A-Za-z0-9_.:-]{1,128}$/;

function headersOf({ random, word }: Making, index: number): string[] {
  const headers: string[] = [];
  const add = (name: string, probability: number, usual: string) => {
    if (random.chance(probability)) headers.push(`${name}: ${random.chance(0.5) ? usual : hostileHeader(random, word)}`);
  };
  // Few, so that keys are used again, for the same request and for others.
  add('idempotency-key', 0.3, `key-${random.below(200)}`);
  add('if-match', 0.12, random.pick(['"0"', '"1"', 'W/"2"', '*']));
  if (random.chance(0.2)) {
    const value = hostileHeader(random, word);
    headers.push(`x-correlation-id: ${fitForEcho.test(value) ? `fuzz-${index}` : value}`);
  }
  if (random.chance(0.03))
    headers.push(...Array.from({ length: random.pick([100, 1_500]) }, (_, at) => `x-flood-${at}: ${word}`));
  if (random.chance(0.03))
    headers.push(
      random.pick([
        'accept: text/html',
        'expect: 100-continue',
        `cookie: a=${word}`,
        `x-forwarded-for: ${word}`,
        'x-http-method-override: DELETE',
        `origin: https://${word}.invalid`,
        'range: bytes=0-1',
        `if-none-match: ${word}`,
      ]),
    );
  return headers;
}

/** The head with its body, in one part or several, by length or in chunks. */
function message(random: Random, head: readonly string[], { bytes, headers }: Body): Buffer[] {
  const chunked = bytes.length > 0 && random.chance(0.08);
  const length = chunked ? 'transfer-encoding: chunked' : `content-length: ${bytes.length}`;
  const lines = [...head, ...headers, ...(bytes.length > 0 || random.chance(0.5) ? [length] : []), 'connection: close'];
  // UTF-8 in headers, as a client sends it that knows no better.
  const opening = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`);
  if (!chunked) return random.chance(0.05) ? [opening, bytes] : [Buffer.concat([opening, bytes])];
  const half = Math.ceil(bytes.length / 2);
  const pieces = [bytes.subarray(0, half), bytes.subarray(half)].filter(({ length: size }) => size > 0);
  const framed = pieces.map((piece) =>
    Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')]),
  );
  return [opening, ...framed, Buffer.from('0\r\n\r\n')];
}
