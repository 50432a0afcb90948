import { inexactNumber } from '../http/validation/exact-numbers.js';
import { type Problem, refused } from './record.js';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** The object that a record holds. A number that would lose digits on the way is refused here: sent on, it would look exact. */
export function jsonRecord(text: string): { readonly record: JsonRecord } | { readonly refused: Problem } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refused('malformed_json');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refused('body_not_an_object');
  const inexact = inexactNumber(text);
  return inexact === undefined ? { record: value as JsonRecord } : refused('number_not_exact', inexact);
}
