import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import { duesProjection, erased, extended, lent, loanId, shelfProjection, teams } from '../../test/support/library.js';
import { request } from '../../test/support/operator.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import type { ProjectionEngine } from './projection-engine.js';
import type { Projection } from './projection.js';

/** The shelf as another version; and one that fails at loans of the reader `cursed`. */
const shelfOf = (version: number, curse = false): Projection => ({
  ...shelfProjection,
  version,
  changes(event, rows) {
    if (curse && (event.data as { reader?: string }).reader === 'cursed') throw new TypeError('no');
    return shelfProjection.changes(event, rows);
  },
});

describe('what is erased', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  const builds = async (engine: ProjectionEngine) =>
    ((await engine.status())[0]?.builds ?? []).map(({ version, build, state, purged }) => ({
      name: `${version}.${build} ${state}`,
      purged,
    }));
  const until = async (engine: ProjectionEngine, ...wanted: string[]) => {
    const all = wanted.map((name) => ({ name, purged: true }));
    for (let tries = 0; tries < 400; tries++) {
      if (JSON.stringify(await builds(engine)) === JSON.stringify(all)) break;
      await sleep(10);
    }
    expect(await builds(engine)).toEqual(all);
  };

  /** Tables of any kept build that name this loan anywhere. */
  const naming = async (loan: number): Promise<string[]> => {
    const tables = await database.query<{ schema: string; name: string }>(
      `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema ~ '^mneme_(shelf|dues)_' ORDER BY 1, 2`,
    );
    expect(tables.length).toBeGreaterThan(1);
    const found: string[] = [];
    for (const { schema, name } of tables) {
      const sql = `SELECT FROM "${schema}"."${name}" AS t WHERE position($1 IN t::text) > 0`;
      if ((await database.query(sql, [loanId(loan)])).length > 0) found.push(`${schema}.${name}`);
    }
    return found;
  };

  it('leaves every build that is kept: the one that serves, one that stands by, and one that is ready', async () => {
    await stage.library.record(lent(1), lent(2), extended(1));
    const engine = await stage.projected([shelfProjection]);
    await engine.rebuild('shelf');
    await engine.rebuild('shelf', { hold: true });
    await until(engine, '1.2 serving', '1.1 standby', '1.3 ready');
    expect(await naming(1)).toHaveLength(6);
    await stage.library.record(erased(1));
    await stage.level(engine);
    expect(await naming(1)).toEqual([]);
    expect(await naming(2)).toHaveLength(6);
  });

  it('leaves a build that stopped before, batch by batch', async () => {
    await stage.library.record(lent(1), lent(2), lent(3, 'cursed'));
    const engine = await stage.projected([shelfOf(1, true)]);
    await until(engine, '1.1 stopped');
    expect(await naming(1)).toHaveLength(2);
    await stage.library.record(erased(1));
    await stage.level(engine);
    expect(await naming(1)).toEqual([]);
    expect(await naming(2)).toHaveLength(2);
  });

  it('leaves a build that stops in the very batch that erases it', async () => {
    await stage.library.record(lent(1), lent(2), lent(3, 'cursed'), erased(1), erased(3));
    await stage.projected([shelfOf(1, true)], { batchEvents: 500 });
    expect(await naming(1)).toEqual([]);
  });

  it('leaves a build that stopped while it was built, though the group applied the erasure long before', async () => {
    // Another team's loan of the same id stays.
    await stage.library.record(lent(1), lent(1, 'ada', 'mine', teams[1]), lent(2), lent(3, 'cursed'), erased(1));
    await (await stage.projected([shelfOf(1)])).stop();
    const engine = await stage.projected([shelfOf(1), shelfOf(2, true)]);
    await until(engine, '1.1 serving', '2.1 stopped');
    expect(await rowsOf(database, shelfProjection, 'mneme_shelf_2_1')).toMatchObject({
      shelf: [{ loan_id: loanId(2) }, { loan_id: loanId(1), team_id: teams[1] }],
    });
  });

  it('leaves a build whose code is gone, which then cannot go on', async () => {
    await stage.library.record(lent(1), lent(2));
    await (await stage.projected([shelfOf(1)])).stop();
    const engine = await stage.projected([shelfOf(2)]);
    await until(engine, '2.1 serving', '1.1 stopped');
    await stage.library.record(erased(1));
    await stage.level(engine);
    expect(await naming(1)).toEqual([]);
    expect(await naming(2)).toHaveLength(4);
    await engine.stop();
    const again = await stage.projected([shelfOf(1), shelfOf(2)]);
    await sleep(200);
    expect((await builds(again)).map(({ name }) => name)).toEqual(['2.1 serving', '1.1 stopped']);
    await expect(again.rollback('shelf', request())).rejects.toMatchObject({ code: 'standby_build_stopped' });
  });

  it('leaves a build of a projection that is not declared any more', async () => {
    await stage.library.record(lent(1), lent(2));
    await (await stage.projected([shelfProjection, duesProjection()])).stop();
    const engine = await stage.projected([duesProjection()]);
    await stage.library.record(erased(1));
    await stage.level(engine);
    expect(await naming(1)).toEqual([]);
  });

  it('leaves builds that came to stand still before there was anybody to carry it out', async () => {
    await stage.library.record(lent(1), lent(2), lent(3, 'cursed'), erased(1));
    await (await stage.projected([shelfOf(1)])).stop();
    // As an earlier release left them: stopped, with rows of what was erased since.
    await database.query(
      `UPDATE mneme.projection_builds SET state = 'stopped', position = 1, failed_position = 2, purging = false, joined_at = NULL`,
    );
    const row = `'${teams[0]}', '${loanId(1)}', 'ada', now(), 'with care', 0`;
    await database.query(`INSERT INTO mneme_shelf_1_1.shelf VALUES (${row}, 0)`);
    await until(await stage.projected([shelfOf(1, true)]), '1.1 stopped');
    expect(await naming(1)).toEqual([]);
  });

  it('does not keep a build from becoming what it would be, when it goes on after all', async () => {
    const story = [lent(1), lent(2), lent(3, 'cursed'), extended(1), extended(2), lent(4)];
    await stage.library.record(...story, erased(1));
    const engine = await stage.projected([shelfOf(1, true)]);
    await until(engine, '1.1 stopped');
    await engine.skip('shelf', 2n, undefined, request());
    await until(engine, '1.1 serving');
    await stage.level(engine);
    const wentOn = await rowsOf(database, shelfProjection);
    await engine.rebuild('shelf');
    expect(await rowsOf(database, shelfProjection)).toEqual(wentOn);
    expect(await naming(1)).toEqual([]);
  });
});
