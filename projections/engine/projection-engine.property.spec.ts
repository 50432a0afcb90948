import fc from 'fast-check';
import type { Database } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { freshDatabase } from '../../test/support/database.js';
import {
  duesProjection,
  erased,
  extended,
  left,
  lent,
  loanId,
  readersProjection,
  returned,
  shelfProjection,
  teams,
  type Fact,
} from '../../test/support/library.js';
import { request } from '../../test/support/operator.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import { applyEvents } from './apply.js';
import type { Projection, Row } from './projection.js';
import { createSchema, dropSchema, schemaName } from './schema-sql.js';
import { valuesId } from './table-shape.js';

const projections: readonly Projection[] = [shelfProjection, readersProjection(), duesProjection({ curse: false })];

const team = fc.constantFrom(...teams);
const loan = fc.nat(3);
const reader = fc.constantFrom('ada', 'bob', 'with, "quotes"', 'Łódź\\');
const due = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString());
const lending = fc.tuple(loan, reader, fc.string({ unit: 'grapheme', maxLength: 8 }), team).map((fact) => lent(...fact));
const extension = fc.tuple(loan, due, team).map((fact) => extended(...fact));
const returning = fc.tuple(loan, team).map((fact) => returned(...fact));
const lasting = fc.oneof({ weight: 3, arbitrary: lending }, { weight: 2, arbitrary: extension }, returning);
const fact: fc.Arbitrary<Fact> = fc.oneof(
  { weight: 5, arbitrary: lasting },
  fc.tuple(loan, team).map((erasure) => erased(...erasure)),
  fc.tuple(reader, team).map((leaving) => left(...leaving)),
);
const facts = fc.array(fact, { minLength: 1, maxLength: 40 });

describe('whatever the log holds', () => {
  let database: Database;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());

  /** A log of these facts alone, gone at the end. */
  async function withLog(story: readonly Fact[], work: (stage: Stage) => Promise<void>): Promise<void> {
    await emptyLog(database);
    const stage = new Stage(database);
    try {
      await stage.library.record(...story);
      await work(stage);
    } finally {
      await stage.end();
    }
  }

  const allRows = async () => Promise.all(projections.map((each) => rowsOf(database, each)));

  async function decoded({ log, library: { codec } }: Stage, { needsContent, eventTypes }: Projection): Promise<RecordedEvent[]> {
    const stored = [];
    for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix })) {
      if (eventTypes.includes(event.type)) stored.push(event);
    }
    return codec.decode(stored, { content: needsContent });
  }

  /** The rows of a schema that got these events and no others. */
  async function rowsMadeOf(
    projection: Projection,
    events: readonly RecordedEvent[],
    batch: number,
  ): Promise<Record<string, Row[]>> {
    const schema = 'mneme_cut_1_1';
    const target = { projection, schema, embeddingContract: undefined };
    await database.asOwner((queries) => queries.execute(`${dropSchema(schema)}; ${createSchema(schema, projection)}`));
    for (let from = 0; from < events.length; from += batch)
      await database.as('mneme_projector', (queries) => applyEvents(queries, target, events.slice(from, from + batch)));
    return rowsOf(database, projection, schema);
  }

  it('a rebuild makes the same rows as following the log did, current and historical', () =>
    fc.assert(
      fc.asyncProperty(facts, facts, async (first, second) =>
        withLog(first, async (stage) => {
          const engine = await stage.projected(projections, { batchEvents: 7 });
          await stage.library.record(...second);
          await stage.level(engine);
          const live = await allRows();
          for (const { name } of projections) await engine.rebuild(name);
          expect(await allRows()).toEqual(live);
        }),
      ),
      { numRuns: 12 },
    ));

  it('every build that is kept holds the same rows, whatever its role, and serves them at once', () =>
    fc.assert(
      fc.asyncProperty(facts, facts, facts, async (first, second, third) =>
        withLog(first, async (stage) => {
          const engine = await stage.projected(projections, { batchEvents: 7 });
          for (const { name } of projections) await engine.rebuild(name);
          await stage.library.record(...second);
          for (const { name } of projections) await engine.rebuild(name, { hold: true });
          await stage.library.record(...third);
          await stage.level(engine);
          const live = await allRows();
          for (const build of [1, 3]) {
            const kept = projections.map((each) => rowsOf(database, each, schemaName(each.name, 1, build)));
            expect(await Promise.all(kept)).toEqual(live);
          }
          for (const { name } of projections) {
            expect(await engine.verify(name)).toMatchObject({ equal: true, candidate: { build: 3 } });
            await engine.rollback(name, request());
          }
          expect(await allRows()).toEqual(live);
        }),
      ),
      { numRuns: 6 },
    ));

  it('applying it twice changes no row', () =>
    fc.assert(
      fc.asyncProperty(facts, fc.integer({ min: 1, max: 50 }), async (story, batch) =>
        withLog(story, async (stage) => {
          await stage.projected(projections);
          const once = await allRows();
          for (const projection of projections) {
            const target = { projection, schema: `mneme_${projection.name}_1_1`, embeddingContract: undefined };
            const events = await decoded(stage, projection);
            for (let from = 0; from < events.length; from += batch)
              await database.as('mneme_projector', (queries) => applyEvents(queries, target, events.slice(from, from + batch)));
          }
          expect(await allRows()).toEqual(once);
        }),
      ),
      { numRuns: 12 },
    ));

  it('the size of the batches does not matter', () =>
    fc.assert(
      fc.asyncProperty(facts, async (story) =>
        withLog(story, async (stage) => {
          for (const projection of projections) {
            const events = await decoded(stage, projection);
            const one = await rowsMadeOf(projection, events, 1);
            expect(await rowsMadeOf(projection, events, 7)).toEqual(one);
            expect(await rowsMadeOf(projection, events, 500)).toEqual(one);
          }
        }),
      ),
      { numRuns: 12 },
    ));

  it('history at a position is what was current when the log ended there', () =>
    fc.assert(
      fc.asyncProperty(fc.array(lasting, { minLength: 1, maxLength: 40 }), fc.nat(), async (story, at) =>
        withLog(story, async (stage) => {
          const position = BigInt(at % story.length);
          await stage.projected(projections);
          for (const projection of projections) {
            const cut = (await decoded(stage, projection)).filter((event) => event.position <= position);
            const then = await rowsMadeOf(projection, cut, 500);
            const now = await rowsOf(database, projection);
            for (const { name, key, history } of projection.tables) {
              const kept = [...key, ...(history ?? [])];
              const current = (then[name] ?? []).map((row) => only(kept, row));
              expect(stateAt(now[`${name}_history`] ?? [], position, kept)).toEqual(byKey(current));
            }
          }
        }),
      ),
      { numRuns: 12 },
    ));

  it('nothing of an erased loan or of a reader that left stays, current or historical', () =>
    fc.assert(
      fc.asyncProperty(facts, fc.integer({ min: 1, max: 50 }), async (story, batchEvents) =>
        withLog([...story, ...teams.flatMap((team) => [erased(1, team), left('ada', team)])], async (stage) => {
          await stage.projected(projections, { batchEvents });
          const rows = (await allRows()).flatMap((tables) => Object.values(tables).flat());
          expect(rows.filter((row) => row.reader === 'ada' || row.loan_id === loanId(1))).toEqual([]);
        }),
      ),
      { numRuns: 12 },
    ));
});

/** The last row of each key at or before a position, without those that were removed. */
function stateAt(history: readonly Row[], position: bigint, columns: readonly string[]): Map<string, Row> {
  const keys = columns.slice(0, 2);
  const last = new Map<string, Row>();
  for (const row of history)
    if ((row.position as bigint) <= position) last.set(valuesId(keys.map((key) => row[key] ?? null)), row);
  return byKey([...last.values()].filter(({ removed }) => removed === false).map((row) => only(columns, row)));
}

const only = (columns: readonly string[], row: Row): Row => Object.fromEntries(columns.map((name) => [name, row[name] ?? null]));
const byKey = (rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [valuesId(Object.values(row).slice(0, 2)), row]));
