import { HttpProblem } from './http-problem.js';
import { Integer, Opaque, Optional } from './validation/fields.js';

/** Query of a read: extend it with filters. */
export class ReadQuery {
  @Optional()
  @Opaque({ description: 'A Mneme-Position: the read waits until it has seen that write.' })
  min_position?: string;
}

/** Query of a list. */
export class ListQuery extends ReadQuery {
  @Optional()
  @Integer(1, 200, { description: 'Most items returned; default 50.' })
  limit?: number;

  @Optional()
  @Opaque({ description: 'next_cursor of the page before.' })
  cursor?: string;
}

export const defaultLimit = 50;

/** One page; `next_cursor` is null on the last one. */
export interface Page<Item> {
  readonly items: Item[];
  readonly next_cursor: string | null;
}

/** Opaque text of the last item's place in a list's order. */
export const cursorOf = (place: readonly (string | number | bigint)[]): string =>
  Buffer.from(JSON.stringify(place.map(String))).toString('base64url');

/**
 * The place a cursor stands for.
 *
 * @param read takes the parts `cursorOf` was given, as texts; undefined when they are not such a place
 * @throws HttpProblem 422 `cursor_invalid`
 */
export function parseCursor<Place>(cursor: string | undefined, read: (parts: string[]) => Place | undefined): Place | undefined {
  if (cursor === undefined) return undefined;
  const parts = cursorParts(cursor);
  const place = parts && read(parts);
  if (place === undefined) throw new HttpProblem(422, 'cursor_invalid', { field: 'cursor' });
  return place;
}

/** For lists in log order: a place is a position, from 0 to 2^63 - 1. */
export const positionPlace = ([text, ...more]: string[]): bigint | undefined => {
  if (text === undefined || more.length > 0 || !/^\d{1,19}$/.test(text)) return undefined;
  const position = BigInt(text);
  return position < 2n ** 63n ? position : undefined;
};

function cursorParts(cursor: string): string[] | undefined {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts) && parts.every((part) => typeof part === 'string')) return parts;
  } catch {
    // not one of ours
  }
  return undefined;
}

/** Cuts what a query for `limit + 1` rows returned into a page. */
export function pageOf<Row, Item>(
  rows: readonly Row[],
  limit: number,
  place: (row: Row) => readonly (string | number | bigint)[],
  item: (row: Row) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { items: shown.map(item), next_cursor: rows.length > limit && last !== undefined ? cursorOf(place(last)) : null };
}
