import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.js';
import { KeyUnavailable } from '../../src/encryption/errors.js';
import { freshDatabase } from '../../test/support/database.js';
import { dues, duesProjection, lent, loanId, readersProjection, shelfProjection } from '../../test/support/library.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import { isLogMismatch } from './errors.js';
import { request } from '../../test/support/operator.js';
import type { ProjectionEngine } from './projection-engine.js';
import { projection, put, table } from './projection.js';

describe('starting the engine', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  const built = async (engine: ProjectionEngine, name: string) => {
    for (;;) {
      const status = (await engine.status()).find((each) => each.name === name);
      if (status?.state === 'caught_up') return;
      if (status?.state !== 'building' && status?.state !== 'catching_up') throw new Error(`${name} is ${status?.state}`);
      await sleep(5);
    }
  };

  describe('with checkpoints that do not fit the log', () => {
    it('is refused when they are of another log', async () => {
      await stage.library.record(lent(1));
      await (await stage.projected([shelfProjection])).stop();
      const other = stage.engine([shelfProjection], { logId: 'another-log' });
      await expect(other.start()).rejects.toMatchObject({
        code: 'log_mismatch',
        message: expect.stringContaining('follow the event log log-of-the-test, but this one is another-log') as string,
      });
    });

    it('is refused when they lie beyond the head, because the log was restored to an earlier moment', async () => {
      await stage.library.record(lent(1), lent(2));
      await (await stage.projected([shelfProjection])).stop();
      await database.query('DELETE FROM mneme.events WHERE position = 1');
      const refusal = await stage
        .engine([shelfProjection])
        .start()
        .catch((error: unknown) => error);
      expect(isLogMismatch(refusal) && refusal.message).toContain('stand at position 1, but the event log ends at 0');
    });

    it('leaves them to the engine that runs', async () => {
      const engine = await stage.projected([shelfProjection]);
      await expect(stage.engine([shelfProjection], { logId: 'another-log' }).start()).rejects.toMatchObject({
        code: 'log_mismatch',
      });
      await stage.library.record(lent(1));
      await stage.level(engine);
      expect(await engine.status()).toMatchObject([{ state: 'caught_up', last_error: null }]);
    });
  });

  it('twice is refused', async () => {
    const engine = await stage.projected([shelfProjection]);
    await expect(engine.start()).rejects.toThrow('runs already');
  });

  it('builds a projection that is new to the log, which then joins the group', async () => {
    await stage.library.record(lent(1), lent(2, 'bob'));
    await (await stage.projected([shelfProjection])).stop();
    const engine = await stage.projected([shelfProjection, readersProjection(false)]);
    await built(engine, 'readers');
    await stage.library.record(lent(3));
    await stage.level(engine);
    await built(engine, 'readers');
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([
      { reader: 'ada', loans: 2 },
      { reader: 'bob', loans: 1 },
    ]);
    expect((await engine.status()).map(({ state }) => state)).toEqual(['caught_up', 'caught_up']);
  });

  it('lets a new projection that meets an event it cannot apply serve what came before, as stopped', async () => {
    await stage.library.record(lent(1), lent(2, 'cursed'), lent(3));
    await (await stage.projected([shelfProjection])).stop();
    const engine = await stage.projected([shelfProjection, duesProjection()]);
    expect(await engine.waitFor(2n, 10_000, ['dues'])).toEqual({ reached: false, position: 0n });
    expect((await engine.status())[1]).toMatchObject({
      state: 'stopped',
      position: 0n,
      last_error: 'TypeError, at BookLent in position 1',
    });
    expect((await rowsOf(database, duesProjection())).dues?.map(({ loan_id }) => loan_id)).toEqual([loanId(1)]);
  });

  describe('with a new version of a projection', () => {
    const wider = table<{ team_id: string; loan_id: string; days: bigint; lent: boolean }>({
      name: 'dues',
      columns: { team_id: 'uuid', loan_id: 'uuid', days: 'int8', lent: 'bool' },
      key: ['team_id', 'loan_id'],
    });
    const second = projection<{ type: 'BookLent'; loan_id: string }>({
      name: 'dues',
      version: 2,
      eventTypes: ['BookLent'],
      needsContent: false,
      tables: [wider],
      load: () => [],
      changes: ({ team, data }) => [put(wider, { team_id: team, loan_id: data.loan_id, days: 2n, lent: true })],
    });

    it('builds it beside the old one, then shows that no more, though it stays until it is dropped', async () => {
      await stage.library.record(lent(1), lent(2, 'bob'));
      await (await stage.projected([duesProjection()])).stop();
      const engine = await stage.projected([second]);
      await built(engine, 'dues');
      expect((await rowsOf(database, second)).dues).toHaveLength(2);
      expect(await engine.status()).toMatchObject([{ version: 2, last_error: null }]);
      const views = () =>
        database.query(
          `SELECT to_regclass('mneme_read.dues_history')::text AS old, to_regnamespace('mneme_dues_1_1')::text AS schema`,
        );
      expect(await views()).toEqual([{ old: null, schema: 'mneme_dues_1_1' }]);
      expect((await engine.status())[0]?.builds).toMatchObject([
        { version: 2, role: 'serving', state: 'serving', projected: true },
        {
          version: 1,
          role: 'standby',
          state: 'stopped',
          projected: false,
          last_error: 'nothing in the code projects version 1 any more',
        },
      ]);
      await expect(engine.rollback('dues', request())).rejects.toMatchObject({ code: 'standby_build_not_projected' });
      expect(await engine.drop('dues')).toEqual([{ version: 1, build: 1 }]);
      expect(await views()).toEqual([{ old: null, schema: null }]);
    });

    it('keeps serving the old one, as stopped, while the new one cannot be built', async () => {
      await stage.library.record(lent(1), lent(2, 'cursed'));
      await (await stage.projected([duesProjection({ curse: false })])).stop();
      const engine = await stage.projected([duesProjection({ version: 2 })]);
      await stage.library.record(lent(3));
      expect(await engine.waitFor(2n, 2000, ['dues'])).toMatchObject({ reached: false });
      for (let state = ''; state !== 'stopped';) state = (await engine.status())[0]?.state ?? '';
      expect(await engine.status()).toMatchObject([
        { version: 1, state: 'stopped', position: 1n, last_error: 'TypeError, at BookLent in position 1' },
      ]);
      expect((await rowsOf(database, duesProjection())).dues).toHaveLength(2);
      await engine.stop();
      const mended = await stage.projected([duesProjection({ version: 2, curse: false })]);
      await built(mended, 'dues');
      expect((await rowsOf(database, duesProjection())).dues).toHaveLength(3);
      expect(await mended.status()).toMatchObject([{ version: 2, last_error: null }]);
    });

    it('replaces it at once while nothing was applied', async () => {
      await (await stage.projected([duesProjection()])).stop();
      const engine = await stage.projected([second]);
      await built(engine, 'dues');
      expect(await engine.status()).toMatchObject([{ version: 2, build: 1 }]);
      expect(dues.name).toBe(wider.name);
    });
  });

  it('lets a projection go on that was left out for a while, from the first event it missed', async () => {
    await stage.library.record(lent(1));
    await (await stage.projected([shelfProjection, readersProjection(false)])).stop();
    const without = await stage.projected([shelfProjection]);
    await stage.library.record(lent(2));
    await stage.level(without);
    await without.stop();
    const engine = await stage.projected([shelfProjection, readersProjection(false)]);
    expect(await engine.waitFor(1n, 10_000, ['readers'])).toEqual({ reached: true, position: 1n });
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([{ loans: 2 }]);
  });

  it('drops builds that were not finished', async () => {
    await (await stage.projected([shelfProjection])).stop();
    await database.query(
      `INSERT INTO mneme.projection_builds (name, version, build, schema_name, state, position)
       VALUES ('shelf', 1, 2, 'mneme_shelf_1_2', 'building', 5); CREATE SCHEMA mneme_shelf_1_2; CREATE TABLE mneme_shelf_1_2.shelf (x int)`,
    );
    const engine = await stage.projected([shelfProjection]);
    expect(await database.query(`SELECT to_regnamespace('mneme_shelf_1_2') AS schema`)).toEqual([{ schema: null }]);
    await expect(engine.rebuild('shelf')).resolves.toMatchObject({ build: 2 });
  });

  it('takes over from an engine that runs, which then stands by and doubles nothing', async () => {
    const first = await stage.projected([readersProjection(false)]);
    await stage.library.record(lent(1));
    await stage.level(first);
    const second = await stage.projected([readersProjection(false)]);
    await stage.library.record(lent(2), lent(3));
    await stage.level(second);
    expect(await first.waitFor(2n, 5000, ['readers'])).toEqual({ reached: true, position: 2n });
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([{ loans: 3 }]);
    expect(await first.status()).toMatchObject([{ position: 2n, last_error: 'superseded: another process has taken over' }]);
    expect(await second.status()).toMatchObject([{ position: 2n, last_error: null }]);
  });

  it('takes over also while it cannot apply anything itself', async () => {
    const { codec } = stage.library;
    const first = await stage.projected([readersProjection(false)]);
    const second = stage.engine([readersProjection(false)], {
      codec: { streamPrefix: codec.streamPrefix, decode: () => Promise.reject(new KeyUnavailable()) },
    });
    await second.start();
    await stage.library.record(lent(1));
    expect(await first.waitFor(0n, 300, ['readers'])).toEqual({ reached: false, position: -1n });
    expect(await first.status()).toMatchObject([{ last_error: 'superseded: another process has taken over' }]);
    expect(await second.status()).toMatchObject([{ last_error: 'key_unavailable' }]);
  });
});
