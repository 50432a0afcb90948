import type { Row } from './projection.js';
import { valuesId, type ColumnSet, type Where } from './table-shape.js';

/** Rows by an id, and by the values of whatever columns they are asked for: a batch may ask thousands of times. */
export class IndexedRows {
  private readonly rows = new Map<string, Row>();
  private readonly indexes = new Map<ColumnSet, Index<string>>();

  get size(): number {
    return this.rows.size;
  }

  get(id: string): Row | undefined {
    return this.rows.get(id);
  }

  set(id: string, row: Row): void {
    if (this.indexes.size > 0) this.delete(id);
    this.rows.set(id, row);
    for (const index of this.indexes.values()) index.add(id, row);
  }

  delete(id: string): void {
    if (this.indexes.size > 0) {
      const row = this.rows.get(id);
      if (row) for (const index of this.indexes.values()) index.remove(id, row);
    }
    this.rows.delete(id);
  }

  deleteMatching(where: Where): void {
    for (const id of this.idsOf(where)) this.delete(id);
  }

  matching(where: Where): Row[] {
    return this.idsOf(where)
      .map((id) => this.rows.get(id))
      .filter((row) => row !== undefined);
  }

  values(): Row[] {
    return [...this.rows.values()];
  }

  private idsOf(where: Where): string[] {
    let index = this.indexes.get(where.of);
    if (!index) {
      index = new Index(where.of);
      for (const [id, row] of this.rows) index.add(id, row);
      this.indexes.set(where.of, index);
    }
    return index.of(where);
  }
}

/** Which rows have which values in some columns. */
export class Index<Id> {
  private readonly ids = new Map<string, Set<Id>>();

  constructor(private readonly columns: ColumnSet) {}

  add(id: Id, row: Row): void {
    const values = this.valuesOf(row);
    const ids = this.ids.get(values);
    if (ids) ids.add(id);
    else this.ids.set(values, new Set([id]));
  }

  remove(id: Id, row: Row): void {
    this.ids.get(this.valuesOf(row))?.delete(id);
  }

  /** In the order in which they were added. */
  of(where: Where): Id[] {
    return [...(this.ids.get(where.id) ?? [])];
  }

  private valuesOf(row: Row): string {
    return valuesId(this.columns.columns.map(({ name }) => row[name] ?? null));
  }
}
