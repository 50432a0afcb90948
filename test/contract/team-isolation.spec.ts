import type { Database, Queries } from '../../src/database/database.js';
import { allProjections } from '../../src/infrastructure.js';
import { createSchema, pointViews, schemaName } from '../../projections/engine/schema-sql.js';
import type { ColumnType, Projection, Table } from '../../projections/engine/projection.js';
import { historyColumns, historyName, list, qualified } from '../../projections/engine/table-sql.js';
import { shapeOf, type Column } from '../../projections/engine/table-shape.js';
import { freshDatabase } from '../support/database.js';

const mine = '00000000-0000-4000-8000-00000000000a';
const theirs = '00000000-0000-4000-8000-00000000000b';

interface Relation {
  readonly schema: string;
  readonly name: string;
  readonly columns: readonly Column[];
  readonly table: Table;
}

const schemaOf = ({ name, version }: Projection): string => schemaName(name, version, 1);

/** Every table and history table of every projection, so that none is forgotten. */
const relations: readonly Relation[] = allProjections.flatMap((projection) =>
  projection.tables.flatMap((table): Relation[] => {
    const shape = shapeOf(table);
    const current = { schema: schemaOf(projection), name: table.name, columns: shape.columns, table };
    return table.history ? [current, { ...current, name: historyName(table.name), columns: historyColumns(shape) }] : [current];
  }),
);

const sample: Record<ColumnType, string> = {
  uuid: '00000000-0000-4000-8000-000000000001',
  text: 'somebody’s words',
  int4: '1',
  int8: '1',
  float8: '0.5',
  bool: 'false',
  timestamptz: '2026-01-01T00:00:00Z',
  vector: '[1]',
};

/** A row of a team with a value in every column, whatever the projection means by them. */
function insertRow(queries: Queries, { schema, name, columns }: Relation, team: string): Promise<number> {
  const values = columns.map((column) => (column.name === 'team_id' ? team : sample[column.type]));
  const places = columns.map(({ type }, index) => `$${index + 1}::${type}`).join(', ');
  return queries.execute(`INSERT INTO ${qualified(schema, name)} (${list(columns)}) VALUES (${places})`, values);
}

describe('every read model', () => {
  let database: Database;
  beforeAll(async () => {
    database = await freshDatabase();
    for (const projection of allProjections) {
      await database.asOwner((queries) => queries.execute(createSchema(schemaOf(projection), projection)));
      await database.asOwner((queries) => queries.execute(pointViews(schemaOf(projection), projection)));
    }
    await database.as('mneme_projector', async (queries) => {
      for (const relation of relations) for (const team of [mine, theirs]) await insertRow(queries, relation, team);
    });
  });
  afterAll(() => database.close());

  const each = relations.map((relation) => [relation.name, relation] as const);

  it.each(each)('%s shows a team its own rows only, in the table and in the view', async (name, { schema }) => {
    for (const from of [qualified(schema, name), qualified('mneme_read', name)]) {
      const seen = await database.asTeam(mine, (queries) => queries.query(`SELECT team_id FROM ${from}`));
      expect(seen).toEqual([{ team_id: mine }]);
    }
  });

  it.each(each)('%s shows nothing to a request without a team', async (name) => {
    const reading = database.asOwner(async (queries) => {
      await queries.execute('SET LOCAL ROLE mneme_app');
      return queries.query(`SELECT * FROM ${qualified('mneme_read', name)}`);
    });
    await expect(reading).rejects.toMatchObject({ code: 'database_failure' });
  });

  it.each(each)('%s cannot be written by a request', async (name, relation) => {
    const writes = [
      (queries: Queries) => insertRow(queries, relation, mine),
      (queries: Queries) => queries.execute(`UPDATE ${qualified('mneme_read', name)} SET team_id = team_id`),
      (queries: Queries) => queries.execute(`DELETE FROM ${qualified('mneme_read', name)}`),
    ];
    for (const write of writes) await expect(database.asTeam(mine, write)).rejects.toMatchObject({ sqlState: '42501' });
  });

  it.each(each)('%s is readable by the system exactly when its table says so', async (name, { table }) => {
    const reading = database.as('mneme_system', (queries) =>
      queries.query(`SELECT team_id FROM ${qualified('mneme_read', name)}`),
    );
    if (table.systemReadable && name === table.name) await expect(reading).resolves.toHaveLength(2);
    else await expect(reading).rejects.toMatchObject({ sqlState: '42501' });
  });

  it.each(each)('%s has row-level security that its owner cannot pass by either', async (name, { schema }) => {
    const secured = await database.query(
      `SELECT relrowsecurity AS enabled, relforcerowsecurity AS forced FROM pg_class WHERE oid = $1::regclass`,
      [qualified(schema, name)],
    );
    expect(secured).toEqual([{ enabled: true, forced: true }]);
  });

  it.each(each)('%s has keys that begin with the team', async (name, { schema }) => {
    const firstColumns = await database.query<{ column: string }>(
      `SELECT a.attname AS column FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[0]
       WHERE i.indrelid = $1::regclass AND (i.indisunique OR i.indisprimary)`,
      [qualified(schema, name)],
    );
    expect(firstColumns.length).toBeGreaterThan(0);
    expect(new Set(firstColumns.map(({ column }) => column))).toEqual(new Set(['team_id']));
  });
});
