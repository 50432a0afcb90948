/**
 * Compares what a page says a command prints with what it printed. Ids, times, keys and addresses are other ones each
 * time, and `…` in a page stands for anything.
 */

const changing: readonly [RegExp, string][] = [
  [/\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, '<id>'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\bmneme_[\w-]{20,}/g, '<key>'],
  [/\b127\.0\.0\.1:\d+/g, '<address>'],
];

const settled = (text: string): string => changing.reduce((rest, [pattern, stand]) => rest.replace(pattern, stand), text);

function matches(said: string, printed: string): boolean {
  const literal = settled(said)
    .split('…')
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^\\n]*')}$`).test(settled(printed));
}

/** Every line of the page must have been printed, in this order; lines between them are left out. @returns what is missing */
export function missingLines(said: string, printed: string): string[] {
  const lines = printed.split('\n').map((line) => line.trim());
  let place = 0;
  return said
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .filter((line) => {
      const found = lines.findIndex((candidate, index) => index >= place && matches(line, candidate));
      if (found >= 0) place = found + 1;
      return found < 0;
    });
}

/**
 * Every field of the page must have been printed with that value; further fields are left out, items of a list are not.
 * Numbers agree as far as the page gives decimals.
 *
 * @returns what differs, a line each
 */
export function differingFields(said: unknown, printed: unknown, path = '$'): string[] {
  if (Array.isArray(said)) {
    if (!Array.isArray(printed)) return [`${path} is no list`];
    if (printed.length !== said.length) return [`${path} has ${printed.length} items instead of ${said.length}`];
    return said.flatMap((item, index) => differingFields(item, printed[index], `${path}[${index}]`));
  }
  if (typeof said === 'object' && said !== null) {
    if (typeof printed !== 'object' || printed === null) return [`${path} is no object`];
    const fields = printed as Record<string, unknown>;
    return Object.entries(said).flatMap(([name, value]) => differingFields(value, fields[name], `${path}.${name}`));
  }
  return sameValue(said, printed) ? [] : [`${path} is ${JSON.stringify(printed)} instead of ${JSON.stringify(said)}`];
}

function sameValue(said: unknown, printed: unknown): boolean {
  if (typeof said === 'string') return typeof printed === 'string' && matches(said, printed);
  if (typeof said === 'number' && typeof printed === 'number') {
    return printed.toFixed(String(said).split('.')[1]?.length ?? 0) === String(said) || printed === said;
  }
  return said === printed;
}
