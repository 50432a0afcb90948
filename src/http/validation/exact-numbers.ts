import { safeName } from './json-limits.js';

/** Only such digits can be more than a double holds; most bodies have none, and are not looked at any closer. */
const suspicious = /\d[\d.]{14}\d|\d[eE][-+]?\d/;

const numberToken = /-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/y;

/**
 * Looks for a number that would not come back as it was sent: JSON has any number of digits, the double it is read into has
 * about 16. `9007199254740993` would be stored as `9007199254740992`, and nobody would know.
 *
 * @param json text that `JSON.parse` takes
 * @returns the top-level field that holds the first such number, `body` where there is none; undefined when all are exact.
 *   Numbers too large for a double are left to the limits of the whole body.
 */
export function inexactNumber(json: string): string | undefined {
  if (!suspicious.test(json)) return undefined;
  let depth = 0;
  let field = 'body';
  let text = '""';
  for (let at = 0; at < json.length; at += 1) {
    const letter = json.charAt(at);
    if (letter === '{' || letter === '[') depth += 1;
    else if (letter === '}' || letter === ']') depth -= 1;
    else if (letter === ':' && depth === 1) field = safeName(JSON.parse(text) as string);
    else if (letter === '"') {
      const end = endOfText(json, at);
      // The name of a field, if it is one; others are not copied, since they may be long.
      if (depth === 1) text = end - at < 1_000 ? json.slice(at, end + 1) : '""';
      at = end;
    } else if (letter === '-' || (letter >= '0' && letter <= '9')) {
      numberToken.lastIndex = at;
      const [literal = letter] = numberToken.exec(json) ?? [];
      if (!isExact(literal)) return field;
      at += literal.length - 1;
    }
  }
  return undefined;
}

/** Where the text that begins at `start` has its closing quote. By hand: a pattern would remember every letter of a long one. */
function endOfText(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (json.charAt(end - backslashes - 1) === '\\') backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
}

function isExact(literal: string): boolean {
  const value = Number(literal);
  return !Number.isFinite(value) || decimalOf(literal) === decimalOf(String(value));
}

/** Sign, digits without zeros at either end, and the power of ten of the last one: equal for two spellings of one number. */
function decimalOf(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
