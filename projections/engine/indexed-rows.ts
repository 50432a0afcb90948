import type { Row } from './projection.js';
import { valuesId, type Where } from './table-shape.js';

/** Rows by an id, and by the values of whatever columns they are asked for: a batch may ask thousands of times. */
export class IndexedRows<R extends Row = Row> {
  private readonly rows = new Map<string, R>();
  private readonly indexes = new Map<string, Index>();

  get size(): number {
    return this.rows.size;
  }

  get(id: string): R | undefined {
    return this.rows.get(id);
  }

  set(id: string, row: R): void {
    this.delete(id);
    this.rows.set(id, row);
    for (const index of this.indexes.values()) index.add(id, row);
  }

  delete(id: string): void {
    const row = this.rows.get(id);
    if (!row) return;
    this.rows.delete(id);
    for (const index of this.indexes.values()) index.remove(id, row);
  }

  deleteMatching(where: Where): void {
    for (const id of this.idsOf(where)) this.delete(id);
  }

  matching(where: Where): R[] {
    return this.idsOf(where)
      .map((id) => this.rows.get(id))
      .filter((row) => row !== undefined);
  }

  values(): R[] {
    return [...this.rows.values()];
  }

  private idsOf(where: Where): string[] {
    let index = this.indexes.get(where.columnsId);
    if (!index) {
      index = new Index(where.columns.map(({ name }) => name));
      for (const [id, row] of this.rows) index.add(id, row);
      this.indexes.set(where.columnsId, index);
    }
    return [...(index.ids.get(where.id) ?? [])];
  }
}

class Index {
  readonly ids = new Map<string, Set<string>>();

  constructor(private readonly columns: readonly string[]) {}

  add(id: string, row: Row): void {
    const values = this.valuesOf(row);
    const ids = this.ids.get(values);
    if (ids) ids.add(id);
    else this.ids.set(values, new Set([id]));
  }

  remove(id: string, row: Row): void {
    this.ids.get(this.valuesOf(row))?.delete(id);
  }

  private valuesOf(row: Row): string {
    return valuesId(this.columns.map((name) => row[name] ?? null));
  }
}
