import type { Queries } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { ProjectionDefect } from './errors.js';
import type { Change, Lookup, Projection, Row, Rows, Table } from './projection.js';
import { Coverage, RowSet, RowsNotLoaded } from './row-set.js';
import { shapeOf, within, type ColumnSet, type TableShape, type Where } from './table-shape.js';
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
import { Slices } from './slices.js';
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
  const slices = new Slices();
  for (let rest = events; rest.length > 0;) {
    const { rows, coverages } = await load(queries, target, rest, slices);
    const { writes, done } = await change(target.projection, rest, rows, coverages, slices);
    await write(queries, target, writes);
    rest = done === rest.length ? [] : rest.slice(done);
  }
}

async function load(queries: Queries, { projection, schema }: Target, events: readonly RecordedEvent[], slices: Slices) {
  const rows = new RowSet();
  const coverages: Coverage[] = [];
  const prefetch = new Prefetch(projection, rows);
  for (const event of events) {
    const coverage = new Coverage();
    coverages.push(coverage);
    prefetch.want(coverage, projection.load([event]));
    if (slices.over) await slices.next();
  }
  await prefetch.run(queries, schema);
  for (let round = 0; projection.follow && round < followRounds; round++) {
    for (const [index, event] of events.entries()) {
      const coverage = coverages[index] ?? new Coverage();
      prefetch.want(coverage, followed(projection, event, rows.view(coverage)));
      if (slices.over) await slices.next();
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

/** Rows to fetch by the same columns, by id. */
type Wanted = Map<ColumnSet, Map<string, Where>>;

/** Gathers lookups and fetches each set of rows once. */
class Prefetch {
  private readonly fetched: Wanted = new Map();
  private wanted: Wanted = new Map();

  constructor(
    private readonly projection: Projection,
    private readonly rows: RowSet,
  ) {}

  want(coverage: Coverage, lookups: readonly Lookup[]): void {
    for (const lookup of lookups) {
      checkOwn(this.projection, lookup.table);
      const where = coverage.add(lookup);
      if (!where || this.fetched.get(where.of)?.has(where.id)) continue;
      const ofSet = this.wanted.get(where.of);
      if (ofSet) ofSet.set(where.id, where);
      else this.wanted.set(where.of, new Map([[where.id, where]]));
    }
  }

  /** One query for each table and set of columns. @returns whether anything was fetched */
  async run(queries: Queries, schema: string): Promise<boolean> {
    const { wanted } = this;
    this.wanted = new Map();
    for (const [set, wheres] of wanted) {
      const { sql, values } = selectRows(schema, set.shape, [...wheres.values()]);
      this.rows.add(set.shape, await queries.query<Row>(sql, values));
      const fetched = this.fetched.get(set);
      if (!fetched) this.fetched.set(set, wheres);
      else for (const [id, where] of wheres) fetched.set(id, where);
    }
    return wanted.size > 0;
  }
}

/** @returns the writes of the first `done` events */
async function change(
  projection: Projection,
  events: readonly RecordedEvent[],
  rows: RowSet,
  coverages: readonly Coverage[],
  slices: Slices,
): Promise<{ writes: TableWrites[]; done: number }> {
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
    if (slices.over) await slices.next();
  }
  return { writes: [...writes.values()], done };
}

function record(projection: Projection, writes: Map<Table, TableWrites>, rows: RowSet, change: Change, position: bigint): void {
  const { table } = change;
  checkOwn(projection, table);
  const shape = shapeOf(table);
  let ofTable = writes.get(table);
  if (!ofTable) writes.set(table, (ofTable = new TableWrites(shape)));
  switch (change.op) {
    case 'put': {
      const row = shape.row(change.row);
      const id = shape.id(row);
      ofTable.put(id, row, position);
      rows.put(shape, row, id);
      return;
    }
    case 'remove': {
      const key = shape.keyOf(change.key);
      const id = shape.id(key);
      ofTable.remove(id, key, position);
      rows.remove(shape, id);
      return;
    }
    case 'erase': {
      const where = shape.where(change.where);
      ofTable.erase(where);
      rows.erase(shape, where);
      return;
    }
    default:
      return change satisfies never;
  }
}

/** The next statement is put together while the database carries out the one before. */
async function write(queries: Queries, target: Target, writes: readonly TableWrites[]): Promise<void> {
  let sent: Promise<number> | undefined;
  try {
    for (const { sql, values } of statements(target, writes)) {
      await sent;
      sent = queries.execute(sql, values);
    }
  } finally {
    await sent;
  }
}

function* statements(target: Target, writes: readonly TableWrites[]): Generator<Statement, void, undefined> {
  for (const ofTable of writes) {
    for (const step of ofTable.finished()) yield* statementsOf(target, ofTable.shape, step);
  }
}

function* statementsOf(
  { schema, embeddingContract }: Target,
  shape: TableShape,
  step: WriteStep,
): Generator<Statement, void, undefined> {
  const { erasures, removals, puts, history } = step;
  const { embeds } = shape.table;
  for (const wheres of erasures) yield* erasure(schema, shape, wheres);
  if (removals.length > 0) yield deleteRows(schema, shape, removals);
  if (puts.length > 0) yield upsertRows(schema, shape, puts);
  if (history.length > 0) yield insertHistory(schema, shape, history);
  if (puts.length > 0 && embeds && embeddingContract) yield copyVectors(schema, shape, embeds, embeddingContract, puts);
}

function erasure(schema: string, shape: TableShape, wheres: readonly Where[]): Statement[] {
  const byKey = within(wheres[0]?.columns ?? [], shape.key);
  return [
    eraseRows(schema, shape.name, wheres),
    ...(shape.history && !byKey ? [eraseRemovals(schema, shape, wheres)] : []),
    ...(shape.history ? [eraseRows(schema, historyName(shape.name), wheres)] : []),
  ];
}

function checkOwn(projection: Projection, table: Table): void {
  if (!projection.tables.includes(table)) throw new ProjectionDefect(`${projection.name} does not own the table ${table.name}`);
}
