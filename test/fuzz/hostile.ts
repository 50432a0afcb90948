import type { Random } from './random.js';

const half = '\ud800';

/** Texts that have broken somebody's service, each with the canary in it. */
const texts: readonly ((word: string) => string)[] = [
  (word) => `${word}'; DROP TABLE mneme.events; --`,
  (word) => `' OR '1'='1' /* ${word} */`,
  (word) => `${word}"})]}$$;SELECT pg_sleep(10)--`,
  (word) => `<script>alert("${word}")</script>`,
  (word) => `"><img src=x onerror=${word}>`,
  (word) => `%${word}%_\\%`,
  (word) => `${word}_%'\\`,
  (word) => `../../../../etc/passwd ${word}`,
  (word) => `{{7*7}}\${7*7}#{7*7}${word}`,
  (word) => `${word}\r\nSet-Cookie: x=1`,
  (word) => `${word}\u0000`,
  (word) => `${half}${word}`,
  (word) => `${word}\udfff`,
  (word) => `\u202e${word}\u200b\ufeff`,
  (word) => `\u0430dmin ${word}`, // a Cyrillic letter that looks like a Latin one
  (word) => `${word}\u0301\u0301\u0301`,
  (word) => `\u{1f468}\u200d\u{1f469}\u200d\u{1f467}${word}`,
  (word) => `ＤＲＯＰ ${word}`,
  (word) => `${'a\u0300'.repeat(3_000)}${word}`,
  (word) => `${word}${'x'.repeat(40_000)}`,
  (word) => `$1 $2 \\x00 ${word}`,
  (word) => `__proto__ ${word}`,
  (word) => `\u001b[31m${word}\u0007`,
  (word) => `${'('.repeat(500)}${word}`,
  (word) => ` ${word} `,
  () => '',
  () => ' \t\n\u00a0\u3000',
  (word) => `NaN ${word}`,
  (word) => `https://${word}.invalid/?a=b#c`,
];

export const hostileText = (random: Random, word: string): string => random.pick(texts)(word);

const numbers = [
  ...['1e999', '-1e999', '1e308', '5e-324', '-0', '-1', '2.5', '4294967296', '9223372036854775808', '1e2'],
  ...['9007199254740993', '0.1234567890123456789', '1e-400'],
];

/** JSON texts of any kind, in place of whatever belongs there. */
export function hostileJson(random: Random, word: string): string {
  const text = JSON.stringify(hostileText(random, word));
  switch (random.below(14)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return text;
    case 4:
    case 5:
      return random.pick(numbers);
    case 6:
      return random.pick(['null', 'true', 'false', '[]', '{}', '[null]', '""']);
    case 7:
      return `[${text},${random.pick(numbers)},null,{${text}:${text}}]`;
    case 8:
      return `{"constructor":{"prototype":{"x":${text}}},"toString":${text},"hasOwnProperty":1}`;
    case 9:
      return `{"__proto__":{"admin":true,"x":${text}}}`;
    case 10:
      return nested(random.pick([10, 63, 64, 65, 200, 5_000]), random.chance(0.5), text);
    case 11:
      return `{${Array.from({ length: 300 }, (_, index) => `"k${index} ${word}":${index}`).join(',')}}`;
    case 12:
      return `{"a":1,"a":${text},"a":[${text}]}`;
    default:
      return `[${Array.from({ length: random.pick([50, 2_000]) }, () => '0').join(',')}]`;
  }
}

const nested = (depth: number, objects: boolean, inside: string): string =>
  objects ? `${'{"a":'.repeat(depth)}${inside}${'}'.repeat(depth)}` : `${'['.repeat(depth)}${inside}${']'.repeat(depth)}`;

/** What stands in a path or a query, encoded or not, one step before the wire. */
const segments: readonly ((word: string) => string)[] = [
  (word) => `..%2f..%2f${word}`,
  (word) => `%2e%2e/%2e%2e/${word}`,
  (word) => `..;/${word}`,
  (word) => `%00${word}`,
  (word) => `%zz${word}`,
  (word) => `%c0%af${word}`,
  (word) => `%ff%fe${word}`,
  (word) => `%ed%a0%80${word}`,
  (word) => `${word}%0d%0aX-Injected:1`,
  (word) => `%27%20OR%201=1--${word}`,
  (word) => `%3Cscript%3E${word}`,
  (word) => `%25${word}%25`,
  (word) => `${word}${'x'.repeat(190)}`,
  (word) => `${word}${'x'.repeat(3_000)}`,
  (word) => `${word}/../${word}`,
  (word) => `//${word}`,
  (word) => `${word}?a=b?c=d`,
  (word) => `${word}%3f`,
  (word) => `*${word}`,
  (word) => `:id${word}`,
  (word) => `${word}.json`,
  () => '__proto__',
  () => 'constructor',
  () => '00000000-0000-4000-8000-000000000000',
  () => '00000000-0000-0000-0000-000000000000',
  () => '{00000000-0000-4000-8000-000000000000}',
  () => '00000000000040008000000000000000',
  () => '%20',
  () => '',
];

export const hostileSegment = (random: Random, word: string): string => random.pick(segments)(word);

/** Values of a header, without line ends; some are no header values at all. */
const headerValues: readonly ((word: string) => string)[] = [
  (word) => word,
  (word) => `"${word}"`,
  (word) => `${word} ${word}`,
  (word) => `<b>${word}</b>`,
  (word) => `${word}é`,
  (word) => `${word}\u0001`,
  (word) => `${word}\t${word}`,
  (word) => `{"a":"${word}"}`,
  (word) => `${word}${'x'.repeat(300)}`,
  (word) => `${word}${'x'.repeat(9_000)}`,
  (word) => `%00${word}`,
  (word) => `"0", "${word}"`,
  (word) => `W/"99999999999999999999${word}"`,
  (word) => `'; --${word}`,
  (word) => `\u{1f600}${word}`,
  () => '',
  () => '*',
  () => '"0"',
  () => '"-1"',
  () => '"18446744073709551616"',
];

export const hostileHeader = (random: Random, word: string): string => random.pick(headerValues)(word);
