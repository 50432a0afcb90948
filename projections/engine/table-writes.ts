import { ProjectionDefect } from './errors.js';
import { IndexedRows } from './indexed-rows.js';
import type { Row, Value } from './projection.js';
import { within, type TableShape, type Where } from './table-shape.js';

/** What a row was from a position on; columns other than the key are null where it was removed. */
export type HistoryRow = Row & { readonly position: bigint; readonly removed: boolean };

/** Writes of one table that may be carried out set-wise: first the erasures, then the removals, the puts and the history. */
export interface WriteStep {
  /** Grouped by the columns that name the rows. */
  readonly erasures: readonly (readonly Where[])[];
  readonly removals: readonly Row[];
  readonly puts: readonly Row[];
  readonly history: readonly HistoryRow[];
}

/**
 * The changes of a batch to one table, one write a row however often it changed.
 *
 * An erasure takes pending writes with it, so erased content does not reach the disk. Where that cannot be decided here
 * because the erasure names other columns than the key (of the row's earlier values we know nothing), a new step begins.
 */
export class TableWrites {
  private readonly steps: Step[] = [new Step()];

  constructor(readonly shape: TableShape) {}

  /** @returns the row in the form it is stored in */
  put(row: Row, position: bigint): Row {
    const complete = this.shape.row(row);
    const id = this.shape.id(complete);
    this.last.removals.delete(id);
    this.last.puts.set(id, complete);
    this.record(id, complete, position, false);
    return complete;
  }

  remove(key: Row, position: bigint): Row {
    const removed = this.shape.keyOf(key);
    const id = this.shape.id(removed);
    this.last.puts.delete(id);
    this.last.removals.set(id, removed);
    this.record(id, removed, position, true);
    return removed;
  }

  erase(row: Row): Where {
    const where = this.shape.where(row);
    if (this.shape.history && !within(where.columns, [...this.shape.key, ...this.shape.history]))
      throw new ProjectionDefect(`${this.shape.name} is erased by ${where.columnsId}, which its history does not hold`);
    if (within(where.columns, this.shape.key)) this.last.drop(where);
    else if (!this.last.empty) this.steps.push(new Step());
    this.last.addErasure(where);
    return where;
  }

  finished(): WriteStep[] {
    return this.steps.map((step) => ({
      erasures: [...step.erasures.values()].map((wheres) => [...wheres.values()]),
      removals: step.removals.values(),
      puts: step.puts.values(),
      history: step.history.values(),
    }));
  }

  private get last(): Step {
    return this.steps[this.steps.length - 1] as Step;
  }

  private record(id: string, row: Row, position: bigint, removed: boolean): void {
    if (!this.shape.history) return;
    const kept: Record<string, Value> = {};
    for (const { name } of this.shape.key) kept[name] = row[name] ?? null;
    for (const { name } of this.shape.history) kept[name] = removed ? null : (row[name] ?? null);
    this.last.history.set(`${id}\0${position}`, { ...kept, position, removed });
  }
}

class Step {
  readonly erasures = new Map<string, Map<string, Where>>();
  readonly removals = new IndexedRows();
  readonly puts = new IndexedRows();
  readonly history = new IndexedRows<HistoryRow>();

  get empty(): boolean {
    return this.removals.size === 0 && this.puts.size === 0 && this.history.size === 0;
  }

  drop(where: Where): void {
    this.removals.deleteMatching(where);
    this.puts.deleteMatching(where);
    this.history.deleteMatching(where);
  }

  addErasure(where: Where): void {
    const wheres = this.erasures.get(where.columnsId);
    if (wheres) wheres.set(where.id, where);
    else this.erasures.set(where.columnsId, new Map([[where.id, where]]));
  }
}
