import { isStorable } from '../../text.js';
import { type FieldProblem } from '../http-problem.js';

/** Deepest nesting of arrays and objects in a request. Anything deeper could only be meant to exhaust a stack. */
export const deepestNesting = 64;

/**
 * Limits that hold for every request as a whole, checked before anything else looks at it: nesting, texts and keys that
 * cannot be stored, numbers that JSON cannot write back, and the key `__proto__`.
 *
 * @returns the first violation; its field is the top-level one, because nested names may be anything
 */
export function jsonProblem(root: object): FieldProblem | undefined {
  const pending: { value: unknown; depth: number; field: string }[] = [{ value: root, depth: 0, field: '' }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { value, depth, field } = next;
    const broken = brokenRule(value, depth);
    if (broken) return { field: field || 'body', ...broken };
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, item] of Object.entries(value) as [string, unknown][]) {
      const inside = depth === 0 ? safeName(key) : field;
      if (key === '__proto__' || !isStorable(key)) {
        return {
          field: inside,
          rule: 'key',
          message: 'must not contain the key __proto__ or keys with U+0000 or lone surrogates',
        };
      }
      pending.push({ value: item, depth: depth + 1, field: inside });
    }
  }
  return undefined;
}

function brokenRule(value: unknown, depth: number): Omit<FieldProblem, 'field'> | undefined {
  if (typeof value === 'string' && !isStorable(value)) {
    return { rule: 'text', message: 'must not contain U+0000 or lone surrogates' };
  }
  if (typeof value === 'number' && !Number.isFinite(value))
    return { rule: 'number', message: 'must be a number that JSON can hold' };
  if (depth > deepestNesting) return { rule: 'nesting', message: `must be nested at most ${deepestNesting} levels deep` };
  return undefined;
}

/** A field name as it may be shown: names come from the client, and could be anything. */
export const safeName = (name: string): string => (/^[A-Za-z_][A-Za-z0-9_.[\]-]{0,99}$/.test(name) ? name : '(not shown)');
