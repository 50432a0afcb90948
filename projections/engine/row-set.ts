import { ProjectionDefect } from './errors.js';
import { IndexedRows } from './indexed-rows.js';
import type { Lookup, Row, Rows, Table } from './projection.js';
import { shapeOf, valuesId, type TableShape, type Where } from './table-shape.js';

/** A projection asked for rows that were not loaded for this event. */
export class RowsNotLoaded extends ProjectionDefect {
  constructor(table: string, columns: string) {
    super(`rows of ${table} by ${columns} were not loaded for this event`);
  }
}

/** The rows of a batch in memory: those loaded, then changed event by event. */
export class RowSet {
  private readonly tables = new Map<Table, IndexedRows>();

  /** Adds rows read from the database; those already here are newer. */
  add(shape: TableShape, rows: readonly Row[]): void {
    const into = this.rowsOf(shape.table);
    for (const row of rows) {
      const id = shape.id(row);
      if (!into.get(id)) into.set(id, row);
    }
  }

  put(shape: TableShape, row: Row): void {
    this.rowsOf(shape.table).set(shape.id(row), row);
  }

  remove(shape: TableShape, key: Row): void {
    this.rowsOf(shape.table).delete(shape.id(key));
  }

  erase(shape: TableShape, where: Where): void {
    this.rowsOf(shape.table).deleteMatching(where);
  }

  /** What an event sees that asked for `coverage`. */
  view(coverage: Coverage): Rows {
    return {
      get: <R extends Row>(from: Table<R>, key: Partial<R>) => {
        const shape = shapeOf(from);
        const id = shape.keyOf(key as Row);
        coverage.demand(shape, shape.where(id));
        return this.rowsOf(shape.table).get(shape.id(id)) as R | undefined;
      },
      find: <R extends Row>(from: Table<R>, where: Partial<R>) => {
        const shape = shapeOf(from);
        const wanted = shape.where(where as Row);
        coverage.demand(shape, wanted);
        return this.rowsOf(shape.table).matching(wanted).sort(shape.byKey) as R[];
      },
    };
  }

  private rowsOf(table: Table): IndexedRows {
    let rows = this.tables.get(table);
    if (!rows) this.tables.set(table, (rows = new IndexedRows()));
    return rows;
  }
}

interface Asked {
  readonly columns: readonly string[];
  readonly ids: Set<string>;
}

/** Which rows one event asked for. */
export class Coverage {
  private readonly asked = new Map<Table, Map<string, Asked>>();

  /** @returns what the lookup means, undefined when it was asked before */
  add({ table, where }: Lookup): Where | undefined {
    const wanted = shapeOf(table).where(where);
    let ofTable = this.asked.get(table);
    if (!ofTable) this.asked.set(table, (ofTable = new Map<string, Asked>()));
    let byColumns = ofTable.get(wanted.columnsId);
    if (!byColumns)
      ofTable.set(wanted.columnsId, (byColumns = { columns: wanted.columns.map(({ name }) => name), ids: new Set() }));
    if (byColumns.ids.has(wanted.id)) return undefined;
    byColumns.ids.add(wanted.id);
    return wanted;
  }

  /** @throws RowsNotLoaded unless a lookup took in all rows that `where` means */
  demand(shape: TableShape, where: Where): void {
    const values = new Map(where.columns.map(({ name }, index) => [name, where.values[index] ?? null]));
    for (const { columns, ids } of this.asked.get(shape.table)?.values() ?? []) {
      const part = columns.map((name) => values.get(name) ?? null);
      if (!part.includes(null) && ids.has(valuesId(part))) return;
    }
    throw new RowsNotLoaded(shape.name, where.columnsId);
  }
}
