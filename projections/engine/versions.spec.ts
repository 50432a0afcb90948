import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.js';
import { LogUnavailable } from '../../src/event-log/errors.js';
import { operationStream, type OperationEvent } from '../../src/operations/operation.js';
import { freshDatabase } from '../../test/support/database.js';
import { duesProjection, extended, lent, loanId, readersProjection, shelfProjection } from '../../test/support/library.js';
import { request } from '../../test/support/operator.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import type { ProjectionEngine } from './projection-engine.js';
import { projection, put, table, type Projection } from './projection.js';
import type { BuildStatus } from './status.js';

/** Due dates as of version 2: in another unit, with a column more, and without history. */
const wider = table<{ team_id: string; loan_id: string; days: number; weeks: number }>({
  name: 'dues',
  columns: { team_id: 'uuid', loan_id: 'uuid', days: 'int4', weeks: 'int4' },
  key: ['team_id', 'loan_id'],
  incomparable: ['weeks'],
});
const second = (daysOff = 0): Projection =>
  projection<{ type: 'BookLent' | 'LoanExtended'; loan_id: string; due: string }>({
    name: 'dues',
    version: 2,
    eventTypes: ['BookLent', 'LoanExtended'],
    needsContent: false,
    tables: [wider],
    load: () => [],
    changes: ({ team, data }) => {
      const days = Math.floor(Date.parse(data.due) / 86_400_000) + daysOff;
      return [put(wider, { team_id: team, loan_id: data.loan_id, days, weeks: Math.floor(days / 7) })];
    },
  });

const first = duesProjection({ curse: false });

describe('several versions of one projection', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
    await stage.library.record(lent(1), lent(2, 'bob'), extended(1));
  });
  afterEach(() => stage.end());

  const buildsOf = async (engine: ProjectionEngine): Promise<BuildStatus[]> => [...((await engine.status())[0]?.builds ?? [])];
  const states = async (engine: ProjectionEngine) =>
    (await buildsOf(engine)).map(({ version, build, state }) => `${version}.${build} ${state}`);
  const until = async (engine: ProjectionEngine, ...wanted: string[]) => {
    for (let tries = 0; tries < 400 && (await states(engine)).join() !== wanted.join(); tries++) await sleep(10);
    expect(await states(engine)).toEqual(wanted);
  };
  /** An engine whose serving version 1 has version 2 ready beside it. */
  const withReady = async (projections: readonly Projection[] = [first, second()]) => {
    await (await stage.projected([first])).stop();
    const engine = await stage.projected(projections);
    await until(engine, '1.1 serving', '2.1 ready');
    return engine;
  };
  const columns = async () =>
    Object.keys((await database.query<object>('SELECT * FROM mneme_read.dues LIMIT 1'))[0] ?? {}).sort();
  const operations = async () => {
    const events: OperationEvent[] = [];
    for await (const event of stage.log.readStream(`library_operation-system_${operationStream('dues').id}`))
      events.push(JSON.parse(event.data) as OperationEvent);
    return events;
  };
  const switches = async () =>
    (await operations()).map((event) => {
      const { from, to, kind } = event as Extract<OperationEvent, { type: 'ProjectionSwitched' }>;
      const name = (build: typeof from) => (build ? `${build.version}.${build.build}` : 'nothing');
      return `${kind}: ${name(from)} -> ${name(to)}`;
    });

  it('a new one is built beside the one that serves, and waits for an operator', async () => {
    const engine = await withReady();
    expect(await columns()).toEqual(['days', 'loan_id', 'team_id']);
    expect(await engine.status()).toMatchObject([{ version: 1, state: 'caught_up', build: 1, rebuild: null }]);
    expect(await switches()).toEqual([]);
  });

  it('all go on with the log, in the group', async () => {
    const engine = await withReady();
    await stage.library.record(lent(3));
    await stage.level(engine);
    for (const schema of ['mneme_dues_1_1', 'mneme_dues_2_1'])
      expect(await database.query(`SELECT count(*)::int AS loans FROM ${schema}.dues`)).toEqual([{ loans: 3 }]);
    expect(await buildsOf(engine)).toMatchObject([
      { position: 3n, lag: { positions: 0n, seconds: 0 }, projected: true, purged: true },
      { position: 3n, lag: { positions: 0n, seconds: 0 }, projected: true, purged: true },
    ]);
  });

  it('switch and roll back in turns, each with the rows of all events', async () => {
    const engine = await withReady();
    const switched = await engine.switch('dues', request());
    expect(switched.record).toMatchObject({ from: { version: 1, build: 1 }, to: { version: 2, build: 1 }, kind: 'switch' });
    expect(await states(engine)).toEqual(['2.1 serving', '1.1 standby']);
    expect(await columns()).toEqual(['days', 'loan_id', 'team_id', 'weeks']);
    expect(await database.query(`SELECT to_regclass('mneme_read.dues_history') AS history`)).toEqual([{ history: null }]);
    await stage.library.record(lent(3));
    await stage.level(engine);
    const started = performance.now();
    await engine.rollback('dues', request());
    expect(performance.now() - started).toBeLessThan(1000);
    expect(await columns()).toEqual(['days', 'loan_id', 'team_id']);
    expect((await rowsOf(database, first)).dues?.map(({ loan_id }) => loan_id)).toEqual([1, 2, 3].map(loanId));
    await engine.rollback('dues', request());
    expect((await rowsOf(database, second())).dues).toHaveLength(3);
    expect(await switches()).toEqual(['switch: 1.1 -> 2.1', 'rollback: 2.1 -> 1.1', 'rollback: 1.1 -> 2.1']);
  });

  it('switch once for one command, however often it is sent', async () => {
    const engine = await withReady();
    const command = request('11111111-1111-4111-8111-111111111111');
    const once = await engine.switch('dues', command);
    const again = await engine.switch('dues', command);
    expect(again).toEqual(once);
    expect(await switches()).toEqual(['switch: 1.1 -> 2.1']);
    expect(await states(engine)).toEqual(['2.1 serving', '1.1 standby']);
  });

  it('do not switch when somebody else switched since the operator looked', async () => {
    const engine = await withReady();
    const { written } = await engine.switch('dues', request());
    await expect(engine.rollback('dues', { ...request(), expectedRevision: 7n })).rejects.toMatchObject({
      code: 'version_conflict',
      current: written.revision,
    });
    expect(await states(engine)).toEqual(['2.1 serving', '1.1 standby']);
    await engine.rollback('dues', { ...request(), expectedRevision: written.revision as bigint });
  });

  it('have one build that stands by, and one that is ready or being built', async () => {
    const engine = await withReady();
    await engine.rebuild('dues', { version: 2, hold: true });
    expect(await states(engine)).toEqual(['1.1 serving', '2.2 ready']);
    await engine.switch('dues', request());
    await engine.rebuild('dues', { hold: true });
    await engine.switch('dues', request());
    expect(await states(engine)).toEqual(['2.3 serving', '2.2 standby']);
    expect(
      await database.query(`SELECT to_regnamespace('mneme_dues_1_1') AS one, to_regnamespace('mneme_dues_2_1') AS two`),
    ).toEqual([{ one: null, two: null }]);
  });

  it('may be dropped, but for the one that serves, and are not built again by themselves', async () => {
    const engine = await withReady();
    expect(await engine.drop('dues', 'ready')).toEqual([{ version: 2, build: 1 }]);
    await expect(engine.drop('dues')).rejects.toMatchObject({ code: 'nothing_to_drop' });
    await engine.stop();
    const again = await stage.projected([first, second()]);
    await sleep(200);
    expect(await states(again)).toEqual(['1.1 serving']);
  });

  it('that nobody can switch to are refused, each with its reason', async () => {
    const engine = await stage.projected([first, readersProjection()]);
    await expect(engine.switch('dues', request())).rejects.toMatchObject({ code: 'no_ready_build' });
    await expect(engine.rollback('dues', request())).rejects.toMatchObject({ code: 'no_standby_build' });
    await expect(engine.verify('dues')).rejects.toMatchObject({ code: 'nothing_to_verify' });
    await expect(engine.rebuild('dues', { version: 9 })).rejects.toMatchObject({ code: 'version_not_declared' });
    for (const act of [engine.switch.bind(engine), engine.rollback.bind(engine)])
      await expect(act('shelves', request())).rejects.toMatchObject({ code: 'projection_unknown' });
    await expect(engine.verify('shelves')).rejects.toMatchObject({ code: 'projection_unknown' });
    await expect(engine.drop('shelves')).rejects.toMatchObject({ code: 'projection_unknown' });
  });

  it('cannot be switched to while they are being built', async () => {
    const engine = await stage.projected([shelfProjection]);
    let tried: Promise<unknown> | undefined;
    const onProgress = () => {
      tried ??= Promise.allSettled([engine.switch('shelf', request()), engine.verify('shelf')]);
    };
    await engine.rebuild('shelf', { onProgress });
    expect(await tried).toMatchObject([{ reason: { code: 'ready_build_behind' } }, { reason: { code: 'builds_not_level' } }]);
  });

  it('switch by themselves when nothing in the code projects what serves', async () => {
    await (await stage.projected([first])).stop();
    const engine = await stage.projected([second()]);
    await until(engine, '2.1 serving', '1.1 stopped');
    expect(await columns()).toContain('weeks');
    expect(await switches()).toEqual(['automatic: 1.1 -> 2.1']);
    await expect(engine.rollback('dues', request())).rejects.toMatchObject({ code: 'standby_build_not_projected' });
  });

  it('go back by themselves when the code does, without a rebuild', async () => {
    const engine = await withReady();
    await engine.switch('dues', request());
    await engine.stop();
    await stage.library.record(lent(3));
    const older = await stage.projected([first]);
    await until(older, '1.1 serving', '2.1 stopped');
    expect((await rowsOf(database, first)).dues).toHaveLength(3);
    await older.stop();
    await stage.library.record(lent(4));
    const newer = await stage.projected([first, second()]);
    await until(newer, '1.1 serving', '2.1 standby');
    expect(await database.query('SELECT count(*)::int AS loans FROM mneme_dues_2_1.dues')).toEqual([{ loans: 4 }]);
  });

  it('that another process let join stand still where this one has no code for them, and miss nothing later', async () => {
    const owner = await stage.projected([first]);
    const other = stage.engine([first, second()]);
    await other.rebuild('dues', { version: 2, hold: true });
    await stage.library.record(lent(3));
    await stage.level(owner);
    expect(await buildsOf(owner)).toMatchObject([
      { version: 1, state: 'serving', position: 3n },
      { version: 2, state: 'stopped', position: 2n, projected: false, purged: true },
    ]);
    await expect(owner.switch('dues', request())).rejects.toMatchObject({ code: 'ready_build_not_projected' });
    await owner.stop();
    await other.start();
    await until(other, '1.1 serving', '2.1 ready');
    await other.switch('dues', request());
    expect((await rowsOf(database, second())).dues).toHaveLength(3);
  });

  describe('when they are compared', () => {
    it('are equal in the columns that both have and that mean the same', async () => {
      const engine = await withReady();
      const verification = await engine.verify('dues');
      expect(verification).toMatchObject({
        projection: 'dues',
        position: 2n,
        serving: { version: 1, build: 1 },
        candidate: { version: 2, build: 1, role: 'ready' },
        equal: true,
      });
      expect(verification.tables).toMatchObject([
        { table: 'dues', columns: ['team_id', 'loan_id', 'days'], equal: true, differences: [] },
        { table: 'dues_history', columns: [], candidate: undefined },
      ]);
      const [dues] = verification.tables;
      expect(dues?.serving).toEqual(dues?.candidate);
      expect(dues?.serving?.rows).toBe(2n);
      // Seeded anew each time: what was shown once confirms no guess.
      expect((await engine.verify('dues')).tables[0]?.serving?.checksum).not.toBe(dues?.serving?.checksum);
    });

    it('name the rows that differ by their ids', async () => {
      const engine = await withReady([first, second(1)]);
      await database.query(`DELETE FROM mneme_dues_2_1.dues WHERE loan_id = $1`, [loanId(2)]);
      const { equal, tables } = await engine.verify('dues');
      expect(equal).toBe(false);
      const team_id = '00000000-0000-4000-8000-00000000000a';
      expect(tables[0]?.differences).toEqual([
        { found: 'differs', key: { team_id, loan_id: loanId(1) } },
        { found: 'only_serving', key: { team_id, loan_id: loanId(2) } },
      ]);
    });

    it('name twenty rows at most, and no column that may hold words', async () => {
      await stage.library.record(...Array.from({ length: 30 }, (_, index) => lent(index + 10, `reader ${index}`)));
      const engine = await stage.projected([readersProjection()]);
      await engine.rebuild('readers');
      await database.query('DELETE FROM mneme_readers_1_1.readers');
      const { candidate, tables } = await engine.verify('readers');
      expect(candidate).toMatchObject({ role: 'standby', build: 1 });
      expect(tables[0]?.differences).toHaveLength(20);
      expect(tables[0]?.differences[0]).toEqual({ found: 'only_serving', key: { team_id: expect.any(String) as string } });
      expect(JSON.stringify(tables, (_, value: unknown) => String(value))).not.toContain('reader 1');
    });
  });

  describe('whose switch stands, while its event does not', () => {
    const failing = (engine: ProjectionEngine) => {
      const { operations } = stage;
      const record = operations.recordSwitch.bind(operations);
      operations.recordSwitch = () => Promise.reject(new LogUnavailable('gone'));
      return { engine, heal: () => (operations.recordSwitch = record) };
    };

    it('get the event from whoever owns the projections, once the log is back', async () => {
      const { engine, heal } = failing(await withReady());
      await expect(engine.switch('dues', request())).rejects.toMatchObject({ code: 'log_unavailable' });
      expect(await states(engine)).toEqual(['2.1 serving', '1.1 standby']);
      expect(await switches()).toEqual([]);
      heal();
      for (let tries = 0; tries < 200 && (await switches()).length === 0; tries++) await sleep(10);
      expect(await switches()).toEqual(['switch: 1.1 -> 2.1']);
    });

    it('get it at the next start, once, though the command is sent again', async () => {
      const { engine, heal } = failing(await withReady());
      const command = request();
      await expect(engine.switch('dues', command)).rejects.toMatchObject({ code: 'log_unavailable' });
      await engine.stop();
      heal();
      const next = await stage.projected([first, second()]);
      const { record } = await next.switch('dues', command);
      expect(record).toMatchObject({ id: command.context.commandId, to: { version: 2, build: 1 } });
      await sleep(150);
      expect(await switches()).toEqual(['switch: 1.1 -> 2.1']);
    });

    it('and whose event stands, though nobody could note that, do not get it twice', async () => {
      const engine = await withReady();
      await engine.switch('dues', request());
      await database.query('UPDATE mneme.projection_switches SET recorded = false');
      for (let open = 1; open > 0; await sleep(10))
        open = (await database.query('SELECT FROM mneme.projection_switches WHERE NOT recorded')).length;
      expect(await switches()).toEqual(['switch: 1.1 -> 2.1']);
    });
  });
});
