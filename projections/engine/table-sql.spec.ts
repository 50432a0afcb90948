import fc from 'fast-check';
import { freshDatabase } from '../../test/support/database.js';
import { recorded } from '../../test/support/recorded.js';
import type { Database } from '../../src/database/database.js';
import { applyEvents } from './apply.js';
import { lookup, projection, put, table, type Value } from './projection.js';
import { createSchema, dropSchema } from './schema-sql.js';
import { normalised, shapeOf } from './table-shape.js';
import { deleteRows, eraseRemovals, eraseRows, insertHistory, selectRows, upsertRows } from './table-sql.js';

const team = '00000000-0000-4000-8000-00000000000a';

type ThingRow = {
  team_id: string;
  name: string;
  note: string | null;
  amount: number | null;
  size: number | null;
  total: bigint | null;
  done: boolean | null;
  at: Date | null;
  ref: string | null;
};
const things = table<ThingRow>({
  name: 'things',
  columns: {
    team_id: 'uuid',
    name: 'text',
    note: 'text',
    amount: 'int4',
    size: 'float8',
    total: 'int8',
    done: 'bool',
    at: 'timestamptz',
    ref: 'uuid',
  },
  nullable: ['note', 'amount', 'size', 'total', 'done', 'at', 'ref'],
  key: ['team_id', 'name'],
  history: ['note', 'at'],
});

type ThingNoted = { type: 'ThingNoted'; row: ThingRow };
/** Refuses a row that is not what was put there before, whether it comes from the batch or from the database. */
const echo = projection<ThingNoted>({
  name: 'echo',
  version: 1,
  eventTypes: ['ThingNoted'],
  needsContent: false,
  tables: [things],
  load: (events) => events.map(({ data: { row } }) => lookup(things, { team_id: row.team_id, name: row.name })),
  changes({ data: { row } }, rows) {
    const there = rows.get(things, row);
    if (there) expect(there).toEqual(stored(row));
    return [put(things, row)];
  },
});

const stored = (row: ThingRow) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, normalised(things.columns[name as keyof ThingRow], value)]),
  );

const nullable = <T extends Value>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const awkward = fc.oneof(
  fc.constantFrom('', 'NULL', 'null', '{a,b}', '"', '\\', "'", ',', '\n\t', '\\x00', 'Łódź 😀', 'a\0b', '\ud800'),
  fc.string({ unit: 'binary', maxLength: 40 }),
);
const anyRow: fc.Arbitrary<ThingRow> = fc.record({
  team_id: fc.constant(team),
  name: awkward,
  note: nullable(awkward),
  amount: nullable(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })),
  size: nullable(fc.oneof(fc.double(), fc.constantFrom(0.1, -0, 5e-324, 1.7976931348623157e308, Infinity, -Infinity))),
  total: nullable(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })),
  done: nullable(fc.boolean()),
  at: nullable(fc.date({ min: new Date('-003000-01-01'), max: new Date('+020000-01-01'), noInvalidDate: true })),
  ref: nullable(fc.uuid()),
});

describe('the statements of a read model', () => {
  let database: Database;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());

  it('write every value so that it is read back the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { minLength: 1, maxLength: 8 }), async (rows) => {
        const schema = 'mneme_echo_1_1';
        await database.asOwner((queries) => queries.execute(`${dropSchema(schema)}; ${createSchema(schema, echo)}`));
        const target = { projection: echo, schema, embeddingContract: undefined };
        const last = [...new Map(rows.map((row) => [String(normalised('text', row.name)), row])).values()];
        await database.as('mneme_projector', async (queries) => {
          await applyEvents(
            queries,
            target,
            last.map((row, index) => recorded({ type: 'ThingNoted', row }, BigInt(index))),
          );
          await applyEvents(
            queries,
            target,
            last.map((row, index) => recorded({ type: 'ThingNoted', row }, BigInt(index))),
          );
        });
        const read = await database.query<ThingRow>(`SELECT * FROM ${schema}.things`);
        expect(new Map(read.map((row) => [row.name, row]))).toEqual(
          new Map(last.map((row) => [normalised('text', row.name), stored(row)])),
        );
      }),
      { numRuns: 25 },
    );
  });

  it('take a text of a megabyte', async () => {
    const schema = 'mneme_echo_1_1';
    await database.asOwner((queries) => queries.execute(`${dropSchema(schema)}; ${createSchema(schema, echo)}`));
    const note = 'ä"\\,{}'.repeat(150_000);
    const row = { team_id: team, name: 'long', note, amount: 1, size: 1, total: 1n, done: true, at: new Date(0), ref: null };
    const target = { projection: echo, schema, embeddingContract: undefined };
    await database.as('mneme_projector', (queries) => applyEvents(queries, target, [recorded({ type: 'ThingNoted', row }, 0n)]));
    expect(await database.query(`SELECT note FROM ${schema}.things`)).toEqual([{ note }]);
  });
});

describe('the text of a statement', () => {
  const small = table<{ team_id: string; order: string; place: number }>({
    name: 'small',
    columns: { team_id: 'uuid', order: 'text', place: 'int4' },
    key: ['team_id', 'order'],
    history: ['place'],
  });
  const shape = shapeOf(small);
  const row = { team_id: team, order: 'a', place: 1 };

  it('reads the rows of many keys at once', () =>
    expect(
      selectRows('s', shape, [shape.where({ team_id: team, order: 'a' }), shape.where({ team_id: team, order: 'b' })]),
    ).toEqual({
      sql: `SELECT t."team_id", t."order", t."place" FROM "s"."small" AS t
JOIN unnest($1::uuid[], $2::text[]) AS k ("team_id", "order") ON t."team_id" = k."team_id" AND t."order" = k."order"`,
      values: [`{${team},${team}}`, '{"a","b"}'],
    }));

  it('inserts or replaces', () =>
    expect(upsertRows('s', shape, [row])).toEqual({
      sql: `INSERT INTO "s"."small" ("team_id", "order", "place")
SELECT * FROM unnest($1::uuid[], $2::text[], $3::int4[])
ON CONFLICT ("team_id", "order") DO UPDATE SET "place" = EXCLUDED."place"`,
      values: [`{${team}}`, '{"a"}', '{1}'],
    }));

  it('leaves a row that is nothing but its key', () =>
    expect(upsertRows('s', shapeOf(table({ name: 'keys', columns: { team_id: 'uuid' }, key: ['team_id'] })), [row]).sql).toBe(
      `INSERT INTO "s"."keys" ("team_id")\nSELECT * FROM unnest($1::uuid[])\nON CONFLICT ("team_id") DO NOTHING`,
    ));

  it('deletes by key', () =>
    expect(deleteRows('s', shape, [row])).toEqual({
      sql: `DELETE FROM "s"."small" AS t
USING unnest($1::uuid[], $2::text[]) AS k ("team_id", "order") WHERE t."team_id" = k."team_id" AND t."order" = k."order"`,
      values: [`{${team}}`, '{"a"}'],
    }));

  it('writes history once', () =>
    expect(insertHistory('s', shape, [{ row, position: 7n, removed: false }])).toEqual({
      sql: `INSERT INTO "s"."small_history" ("team_id", "order", "position", "removed", "place")
SELECT * FROM unnest($1::uuid[], $2::text[], $3::int8[], $4::bool[], $5::int4[])
ON CONFLICT DO NOTHING`,
      values: [`{${team}}`, '{"a"}', '{7}', '{f}', '{1}'],
    }));

  it('erases by any column, and the removals that ended an erased row', () => {
    const wheres = [shape.where({ team_id: team, place: 1 })];
    expect(eraseRows('s', 'small', wheres).sql).toBe(`DELETE FROM "s"."small" AS t
USING unnest($1::uuid[], $2::int4[]) AS k ("team_id", "place") WHERE t."team_id" = k."team_id" AND t."place" = k."place"`);
    expect(eraseRemovals('s', shape, wheres).sql).toContain(
      'WHERE t.removed AND NOT ended.removed AND ended."team_id" = k."team_id" AND ended."place" = k."place"',
    );
  });
});
