import { ProjectionDefect } from './errors.js';
import { IndexedRows } from './indexed-rows.js';
import { PendingHistory, type HistoryRow } from './pending-history.js';
import type { Row } from './projection.js';
import { within, type ColumnSet, type TableShape, type Where } from './table-shape.js';

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
  private last = new Step();
  private readonly steps: Step[] = [this.last];

  constructor(readonly shape: TableShape) {}

  /** @param row in the form it is stored in, with its id */
  put(id: string, row: Row, position: bigint): void {
    this.last.removals.delete(id);
    this.last.puts.set(id, row);
    this.record(id, row, position, false);
  }

  /** @param key in the form it is stored in, with its id */
  remove(id: string, key: Row, position: bigint): void {
    this.last.puts.delete(id);
    this.last.removals.set(id, key);
    this.record(id, key, position, true);
  }

  erase(where: Where): void {
    if (this.shape.history && !within(where.columns, [...this.shape.key, ...this.shape.history]))
      throw new ProjectionDefect(`${this.shape.name} is erased by ${where.columnsId}, which its history does not hold`);
    if (within(where.columns, this.shape.key)) this.last.drop(where);
    else if (!this.last.empty) this.steps.push((this.last = new Step()));
    this.last.addErasure(where);
  }

  finished(): WriteStep[] {
    return this.steps.map((step) => ({
      erasures: [...step.erasures.values()].map((wheres) => [...wheres.values()]),
      removals: step.removals.values(),
      puts: step.puts.values(),
      history: step.history.values(),
    }));
  }

  /** An event leaves one row of history for a row, also when it erased others in between. */
  private record(id: string, row: Row, position: bigint, removed: boolean): void {
    if (!this.shape.history) return;
    for (let place = this.steps.length - 2; place >= 0; place--) {
      if (this.steps[place]?.history.takeBack(id, position) === 'of an earlier event') break;
    }
    this.last.history.add(id, { row, position, removed });
  }
}

class Step {
  readonly erasures = new Map<ColumnSet, Map<string, Where>>();
  readonly removals = new IndexedRows();
  readonly puts = new IndexedRows();
  readonly history = new PendingHistory();

  get empty(): boolean {
    return this.removals.size === 0 && this.puts.size === 0 && this.history.size === 0;
  }

  drop(where: Where): void {
    this.removals.deleteMatching(where);
    this.puts.deleteMatching(where);
    this.history.deleteMatching(where);
  }

  addErasure(where: Where): void {
    const wheres = this.erasures.get(where.of);
    if (wheres) wheres.set(where.id, where);
    else this.erasures.set(where.of, new Map([[where.id, where]]));
  }
}
