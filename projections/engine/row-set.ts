import { ProjectionDefect } from './errors.js';
import { IndexedRows } from './indexed-rows.js';
import type { Lookup, Row, Rows, Table, Value } from './projection.js';
import { shapeOf, valuesId, type ColumnSet, type TableShape, type Where } from './table-shape.js';

/** A projection asked for rows that were not loaded for this event. */
export class RowsNotLoaded extends ProjectionDefect {
  constructor(table: string, columns: string) {
    super(`rows of ${table} by ${columns} were not loaded for this event`);
  }
}

/** The rows of a batch in memory: those loaded, then changed event by event. */
export class RowSet {
  private readonly tables = new Map<TableShape, IndexedRows>();

  /** Adds rows read from the database; those already here are newer. */
  add(shape: TableShape, rows: readonly Row[]): void {
    const into = this.rowsOf(shape);
    for (const row of rows) {
      const id = shape.id(row);
      if (!into.get(id)) into.set(id, row);
    }
  }

  put(shape: TableShape, row: Row, id = shape.id(row)): void {
    this.rowsOf(shape).set(id, row);
  }

  remove(shape: TableShape, id: string): void {
    this.rowsOf(shape).delete(id);
  }

  erase(shape: TableShape, where: Where): void {
    if (where.of.isKey) this.remove(shape, where.id);
    else this.rowsOf(shape).deleteMatching(where);
  }

  get(shape: TableShape, id: string): Row | undefined {
    return this.tables.get(shape)?.get(id);
  }

  find(shape: TableShape, where: Where): Row[] {
    return this.rowsOf(shape).matching(where).sort(shape.byKey);
  }

  /** What an event sees that asked for `coverage`. */
  view(coverage: Coverage): Rows {
    return new View(this, coverage);
  }

  private rowsOf(shape: TableShape): IndexedRows {
    let rows = this.tables.get(shape);
    if (!rows) this.tables.set(shape, (rows = new IndexedRows()));
    return rows;
  }
}

class View implements Rows {
  constructor(
    private readonly rows: RowSet,
    private readonly coverage: Coverage,
  ) {}

  get<R extends Row>(from: Table<R>, key: Partial<R>): R | undefined {
    const shape = shapeOf(from);
    const id = this.coverage.idOf(shape, key as Row) ?? this.demanded(shape, key as Row);
    return this.rows.get(shape, id) as R | undefined;
  }

  find<R extends Row>(from: Table<R>, where: Partial<R>): R[] {
    const shape = shapeOf(from);
    const wanted = shape.where(where as Row);
    this.coverage.demand(wanted);
    return this.rows.find(shape, wanted) as R[];
  }

  private demanded(shape: TableShape, key: Row): string {
    const wanted = shape.whereKey(key);
    this.coverage.demand(wanted);
    return wanted.id;
  }
}

/** As many as nearly all events ask for; so few are found faster by looking at each than by hashing. */
const few = 8;

/** Which rows one event asked for. */
export class Coverage {
  private readonly asked: Where[] = [];
  private readonly sets: ColumnSet[] = [];
  /** Once there are more than a few. */
  private ids: Map<ColumnSet, Set<string>> | undefined;

  /** @returns what the lookup means, undefined when it was asked before */
  add({ table, where }: Lookup): Where | undefined {
    const wanted = shapeOf(table).where(where);
    if (this.has(wanted.of, wanted.id)) return undefined;
    this.asked.push(wanted);
    if (!this.sets.includes(wanted.of)) this.sets.push(wanted.of);
    if (this.asked.length > few) this.remember(this.ids ? [wanted] : this.asked);
    return wanted;
  }

  /** The row's id, when its lookup named it by just these values: nearly always, and then nothing need be put together. */
  idOf(shape: TableShape, key: Row): string | undefined {
    if (this.ids) return undefined;
    for (const { of, values, id } of this.asked) {
      if (of.shape === shape && of.isKey && same(of, values, key)) return id;
    }
    return undefined;
  }

  /** @throws RowsNotLoaded unless a lookup took in all rows that `where` means */
  demand(where: Where): void {
    if (this.has(where.of, where.id)) return;
    for (const set of this.sets) {
      if (set.shape !== where.of.shape || set === where.of) continue;
      const places = set.columns.map(({ name }) => where.columns.findIndex((column) => column.name === name));
      if (!places.includes(-1) && this.has(set, valuesId(places.map((place) => where.values[place] ?? null)))) return;
    }
    throw new RowsNotLoaded(where.of.shape.name, where.columnsId);
  }

  private has(set: ColumnSet, id: string): boolean {
    if (this.ids) return this.ids.get(set)?.has(id) === true;
    for (const where of this.asked) if (where.of === set && where.id === id) return true;
    return false;
  }

  private remember(wheres: readonly Where[]): void {
    this.ids ??= new Map();
    for (const { of, id } of wheres) {
      const ids = this.ids.get(of);
      if (ids) ids.add(id);
      else this.ids.set(of, new Set([id]));
    }
  }
}

function same({ columns }: ColumnSet, values: readonly Value[], row: Row): boolean {
  for (let index = 0; index < columns.length; index++) if (values[index] !== row[columns[index]?.name ?? '']) return false;
  return true;
}
