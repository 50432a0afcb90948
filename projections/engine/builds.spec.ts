import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.js';
import { Database } from '../../src/database/database.js';
import { dropEverything, testDatabaseUrl } from '../../test/support/database.js';
import { duesProjection, erased, lent, loanId, readersProjection, shelfProjection } from '../../test/support/library.js';
import { rowsOf, Stage } from '../../test/support/projections.js';
import { applyEvents } from './apply.js';
import type { Projection } from './projection.js';
import { createSchema, pointViews, schemaName } from './schema-sql.js';

const folder = join(packageRoot, 'migrations');
const files = readdirSync(folder).sort();
const sqlOf = (file: string) => readFileSync(join(folder, file), 'utf8');
const added = '0009_projection_versions.sql';

describe('builds that an earlier release left', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(() => {
    const { url, embedded } = testDatabaseUrl();
    database = new Database(url, embedded, 10);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await dropEverything(database);
    await database.query('CREATE SCHEMA mneme');
    for (const file of files.filter((name) => name < added)) await database.query(sqlOf(file));
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  /** As that release made them, with all events of the log up to a position. */
  async function left(projection: Projection, state: 'active' | 'stopped' | 'building', position: bigint): Promise<void> {
    const { name, version, needsContent, eventTypes } = projection;
    const schema = schemaName(name, version, 1);
    await database.asOwner((queries) => queries.execute(createSchema(schema, projection)));
    if (state !== 'building') await database.asOwner((queries) => queries.execute(pointViews(schema, projection)));
    await database.query(
      `INSERT INTO mneme.projection_builds (name, version, build, schema_name, state, position, failed_position)
       VALUES ($1, $2, 1, $3, $4, $5, $6)`,
      [name, version, schema, state, state === 'active' ? null : position, state === 'stopped' ? position + 1n : null],
    );
    const stored = [];
    for await (const event of stage.log.readAll({ after: -1n, prefix: stage.library.codec.streamPrefix, until: position }))
      if (eventTypes.includes(event.type)) stored.push(event);
    const events = await stage.library.codec.decode(stored, { content: needsContent });
    await database.as('mneme_projector', (queries) =>
      applyEvents(queries, { projection, schema, embeddingContract: undefined }, events),
    );
  }

  it('go on as they were: one that served serves, one that stopped is stopped, one that was half made is made anew', async () => {
    await stage.library.record(lent(1), lent(2, 'cursed'), lent(3), erased(1));
    await database.query(`INSERT INTO mneme.projection_group (log_id, position, epoch) VALUES ('log-of-the-test', 3, 1)`);
    await left(shelfProjection, 'active', 3n);
    await left(duesProjection(), 'stopped', 0n);
    await left(readersProjection(), 'building', 1n);
    await database.query(
      `INSERT INTO mneme.projection_builds (name, version, build, schema_name, state) VALUES ('shelf', 1, 7, 'mneme_shelf_1_7', 'retired')`,
    );
    expect((await rowsOf(database, duesProjection())).dues).toHaveLength(1);
    for (const file of files.filter((name) => name >= added)) await database.query(sqlOf(file));

    const engine = await stage.projected([shelfProjection, duesProjection(), readersProjection()]);
    await stage.library.record(lent(4));
    await stage.level(engine);
    await engine.waitFor(4n, 5000, ['readers']);
    expect((await rowsOf(database, shelfProjection)).shelf?.map(({ loan_id }) => loan_id)).toEqual([2, 3, 4].map(loanId));
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([{ loans: 3 }, { loans: 1 }]);
    const builds = async () => (await engine.status()).map(({ name, builds: [build] }) => [name, build?.state, build?.purged]);
    for (let tries = 0; tries < 200 && JSON.stringify(await builds()).includes('false'); tries++)
      await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await builds()).toEqual([
      ['shelf', 'serving', true],
      ['dues', 'stopped', true],
      ['readers', 'serving', true],
    ]);
    // What it kept of a loan that was erased after it stopped is gone now.
    expect((await rowsOf(database, duesProjection())).dues).toEqual([]);
    await expect(engine.rebuild('shelf')).resolves.toMatchObject({ build: 8 });
  });
});
