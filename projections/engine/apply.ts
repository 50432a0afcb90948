import type { Queries } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { ProjectionDefect } from './errors.js';
import type { Change, Lookup, Projection, Row, Rows, Table } from './projection.js';
import { Coverage, RowSet, RowsNotLoaded } from './row-set.js';
import { shapeOf, within, type TableShape, type Where } from './table-shape.js';
import {
  copyVectors,
  deleteRows,
  eraseRemovals,
  eraseRows,
  historyName,
  insertHistory,
  selectRows,
  upsertRows,
  type Statement,
} from './table-sql.js';
import { TableWrites, type WriteStep } from './table-writes.js';

/** A projection and the schema its rows go to. */
export interface Target {
  readonly projection: Projection;
  readonly schema: string;
  /** Cached vectors of this contract are copied into new rows. */
  readonly embeddingContract: string | undefined;
}

/** How often `follow` is asked for one event: evidence -> supports -> relationships -> their slots is three. */
const followRounds = 4;

/**
 * Applies events to a projection's rows in the transaction at hand: one read and one write a table, however many events.
 *
 * An event may need a row that is reached only through a row the same batch made. The events before it are written then,
 * and the rest begins anew; so the outcome never depends on how the log was cut into batches.
 */
export async function applyEvents(queries: Queries, target: Target, events: readonly RecordedEvent[]): Promise<void> {
  for (let rest = events; rest.length > 0;) {
    const { rows, coverages } = await load(queries, target, rest);
    const { writes, done } = change(target.projection, rest, rows, coverages);
    for (const ofTable of writes) await write(queries, target, ofTable);
    rest = rest.slice(done);
  }
}

async function load(queries: Queries, { projection, schema }: Target, events: readonly RecordedEvent[]) {
  const rows = new RowSet();
  const coverages = events.map(() => new Coverage());
  const prefetch = new Prefetch(projection, rows);
  events.forEach((event, index) => prefetch.want(coverages[index], projection.load([event])));
  await prefetch.run(queries, schema);
  for (let round = 0; projection.follow && round < followRounds; round++) {
    for (const [index, event] of events.entries()) {
      const coverage = coverages[index] ?? new Coverage();
      prefetch.want(coverage, followed(projection, event, rows.view(coverage)));
    }
    if (!(await prefetch.run(queries, schema))) break;
  }
  return { rows, coverages };
}

/** What `follow` fails to reach now, because rows are still to be made by the batch, it reaches when the event's turn comes. */
function followed(projection: Projection, event: RecordedEvent, rows: Rows): Lookup[] {
  try {
    return projection.follow?.(event, rows) ?? [];
  } catch (error) {
    if (error instanceof RowsNotLoaded) return [];
    throw error;
  }
}

/** Gathers lookups and fetches each set of rows once. */
class Prefetch {
  private readonly fetched = new Set<string>();
  private wanted = new Map<string, { shape: TableShape; wheres: Where[] }>();

  constructor(
    private readonly projection: Projection,
    private readonly rows: RowSet,
  ) {}

  want(coverage: Coverage | undefined, lookups: readonly Lookup[]): void {
    for (const lookup of lookups) {
      const shape = ownShape(this.projection, lookup.table);
      const where = coverage?.add(lookup);
      if (!where) continue;
      const group = `${shape.name}(${where.columnsId})`;
      const fetch = `${group}\0${where.id}`;
      if (this.fetched.has(fetch)) continue;
      this.fetched.add(fetch);
      const wheres = this.wanted.get(group)?.wheres;
      if (wheres) wheres.push(where);
      else this.wanted.set(group, { shape, wheres: [where] });
    }
  }

  /** One query for each table and set of columns. @returns whether anything was fetched */
  async run(queries: Queries, schema: string): Promise<boolean> {
    const wanted = [...this.wanted.values()];
    this.wanted = new Map();
    for (const { shape, wheres } of wanted) {
      const { sql, values } = selectRows(schema, shape, wheres);
      this.rows.add(shape, await queries.query<Row>(sql, values));
    }
    return wanted.length > 0;
  }
}

/** @returns the writes of the first `done` events */
function change(projection: Projection, events: readonly RecordedEvent[], rows: RowSet, coverages: readonly Coverage[]) {
  const writes = new Map<Table, TableWrites>();
  let done = 0;
  for (const event of events) {
    const coverage = coverages[done] ?? new Coverage();
    let changes: Change[];
    try {
      changes = projection.changes(event, rows.view(coverage));
    } catch (error) {
      if (error instanceof RowsNotLoaded && done > 0) break;
      throw error;
    }
    for (const change of changes) record(projection, writes, rows, change, event.position);
    done++;
  }
  return { writes: [...writes.values()], done };
}

function record(projection: Projection, writes: Map<Table, TableWrites>, rows: RowSet, change: Change, position: bigint): void {
  const shape = ownShape(projection, change.table);
  let ofTable = writes.get(change.table);
  if (!ofTable) writes.set(change.table, (ofTable = new TableWrites(shape)));
  switch (change.op) {
    case 'put':
      rows.put(shape, ofTable.put(change.row, position));
      return;
    case 'remove':
      rows.remove(shape, ofTable.remove(change.key, position));
      return;
    case 'erase':
      rows.erase(shape, ofTable.erase(change.where));
      return;
    default:
      return change satisfies never;
  }
}

async function write(queries: Queries, target: Target, writes: TableWrites): Promise<void> {
  for (const step of writes.finished()) {
    for (const { sql, values } of statements(target, writes.shape, step)) await queries.execute(sql, values);
  }
}

function statements({ schema, embeddingContract }: Target, shape: TableShape, step: WriteStep): Statement[] {
  const { erasures, removals, puts, history } = step;
  const { embeds } = shape.table;
  return [
    ...erasures.flatMap((wheres) => erasure(schema, shape, wheres)),
    ...(removals.length > 0 ? [deleteRows(schema, shape, removals)] : []),
    ...(puts.length > 0 ? [upsertRows(schema, shape, puts)] : []),
    ...(history.length > 0 ? [insertHistory(schema, shape, history)] : []),
    ...(puts.length > 0 && embeds && embeddingContract ? [copyVectors(schema, shape, embeds, embeddingContract, puts)] : []),
  ];
}

function erasure(schema: string, shape: TableShape, wheres: readonly Where[]): Statement[] {
  const byKey = within(wheres[0]?.columns ?? [], shape.key);
  return [
    eraseRows(schema, shape.name, wheres),
    ...(shape.history && !byKey ? [eraseRemovals(schema, shape, wheres)] : []),
    ...(shape.history ? [eraseRows(schema, historyName(shape.name), wheres)] : []),
  ];
}

function ownShape(projection: Projection, table: Table): TableShape {
  if (!projection.tables.includes(table)) throw new ProjectionDefect(`${projection.name} does not own the table ${table.name}`);
  return shapeOf(table);
}
