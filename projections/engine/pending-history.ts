import { Index } from './indexed-rows.js';
import type { Row } from './projection.js';
import type { ColumnSet, Where } from './table-shape.js';

/** What a row was from a position on; where it was removed, `row` is its key. */
export interface HistoryRow {
  readonly row: Row;
  readonly position: bigint;
  readonly removed: boolean;
}

/**
 * Rows of history that a batch is to write, in the order of their positions; of one row's changes by one event, the last.
 * Nearly every event adds some, so they lie in a list: a map by key and position would cost more than all else about them.
 */
export class PendingHistory {
  private readonly rows: (HistoryRow | undefined)[] = [];
  private readonly indexes = new Map<ColumnSet, Index<number>>();
  private count = 0;
  /** Places in the list of the rows of the last position, by id. */
  private places = new Map<string, number>();
  private position: bigint | undefined;

  get size(): number {
    return this.count;
  }

  /** @param id of the row; positions never fall from one call to the next */
  add(id: string, row: HistoryRow): void {
    if (this.position !== row.position) {
      this.position = row.position;
      this.places.clear();
    }
    this.takeBack(id, row.position);
    this.places.set(id, this.rows.length);
    for (const index of this.indexes.values()) index.add(this.rows.length, row.row);
    this.rows.push(row);
    this.count++;
  }

  /** Takes back what the event at this position said of a row, if it was the last to say anything. */
  takeBack(id: string, position: bigint): 'done' | 'of an earlier event' {
    if (this.position !== undefined && this.position < position) return 'of an earlier event';
    const place = this.places.get(id);
    if (place !== undefined) this.deleteAt(place);
    return 'done';
  }

  /** @param where columns of the key: a removal holds no others */
  deleteMatching(where: Where): void {
    let index = this.indexes.get(where.of);
    if (!index) {
      index = new Index(where.of);
      for (const [place, row] of this.rows.entries()) if (row) index.add(place, row.row);
      this.indexes.set(where.of, index);
    }
    for (const place of index.of(where)) this.deleteAt(place);
  }

  values(): HistoryRow[] {
    return this.rows.filter((row) => row !== undefined);
  }

  private deleteAt(place: number): void {
    const row = this.rows[place];
    if (!row) return;
    this.rows[place] = undefined;
    this.count--;
    for (const index of this.indexes.values()) index.remove(place, row.row);
  }
}
