import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../src/database/database.js';
import { freshDatabase, testDatabaseUrl } from '../../test/support/database.js';
import { duesProjection, lent, readersProjection, shelfProjection, teams } from '../../test/support/library.js';
import { request } from '../../test/support/operator.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import type { ProjectionEngine } from './projection-engine.js';
import type { Projection } from './projection.js';

/** What needs several connections: readers beside a switch, and several processes. */
describe('switching builds on a server', () => {
  let database: Database;
  let stage: Stage;
  const others: { stage: Stage; die: () => Promise<void> }[] = [];
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(async () => {
    await stage.end();
    for (const other of others.splice(0)) {
      await other.stage.end();
      await other.die();
    }
  });

  /** An engine as another process would run it: with connections of its own, and a lease. */
  function elsewhere(projections: readonly Projection[]): { engine: ProjectionEngine; die: () => Promise<void> } {
    const own = new Database(testDatabaseUrl().url, false, 5);
    const there = new Stage(own);
    let dead: Promise<void> | undefined;
    // Its connections go, and it can neither finish anything nor say so.
    const die = () => (dead ??= own.close());
    others.push({ stage: there, die });
    return { engine: there.engine(projections, { leaseMs: 600, fillLeaseMs: 2_000 }), die };
  }
  const lateron = async (holds: () => Promise<boolean>) => {
    for (let tries = 0; tries < 1000 && !(await holds()); tries++) await sleep(10);
    expect(await holds()).toBe(true);
  };
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => lent(from + index, index % 2 ? 'bob' : 'ada'));
  const states = async (engine: ProjectionEngine) =>
    ((await engine.status())[0]?.builds ?? []).map(({ version, build, state }) => `${version}.${build} ${state}`);
  const operations = async () => {
    const types: string[] = [];
    for await (const event of stage.log.readStream('library_operation-system_readers')) types.push(event.data);
    return types;
  };

  it('leaves every reader with the answer of its own moment, while builds switch and roll back and the log goes on', async () => {
    await stage.library.record(...many(0, 200));
    const engine = await stage.projected([readersProjection(), shelfProjection], { batchEvents: 20 });
    await engine.rebuild('readers');
    await engine.rebuild('shelf');
    const done = new AbortController();
    const read = async () => {
      let reads = 0;
      for (; !done.signal.aborted; reads++) {
        await database.asTeam(
          teams[0],
          async (queries) => {
            const [readers] = await queries.query<{ sum: bigint }>('SELECT sum(loans) AS sum FROM mneme_read.readers');
            const [shelf] = await queries.query<{ count: bigint }>('SELECT count(*) AS count FROM mneme_read.shelf');
            // Whatever builds it got, both are of one position.
            expect(readers?.sum).toBe(shelf?.count);
            expect(readers?.sum).toBeGreaterThanOrEqual(200n);
          },
          { snapshot: true },
        );
      }
      return reads;
    };
    const writer = (async () => {
      for (let loan = 1000; !done.signal.aborted; loan += 5) await stage.library.record(...many(loan, 5));
    })();
    const readers = [read(), read(), read()];
    const took: number[] = [];
    for (let again = 0; again < 10; again++) {
      for (const name of ['readers', 'shelf']) {
        const started = performance.now();
        await engine.rollback(name, request());
        took.push(performance.now() - started);
      }
    }
    done.abort();
    await writer;
    for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(10);
    expect(took.sort((one, other) => one - other)[took.length / 2]).toBeLessThan(1000);
  });

  it('may be asked of any process, the one that projects and one that stands by', async () => {
    const owner = elsewhere([readersProjection(false), shelfProjection]);
    await owner.engine.start();
    const standby = elsewhere([readersProjection(false), shelfProjection]);
    await standby.engine.start();
    expect([owner.engine.projects, standby.engine.projects]).toEqual([true, false]);
    await stage.library.record(...many(0, 100));
    await standby.engine.rebuild('readers');
    await owner.engine.rebuild('readers', { hold: true });
    await stage.library.record(...many(100, 100));
    await standby.engine.switch('readers', request());
    await owner.engine.rollback('readers', request());
    await stage.library.record(...many(200, 50));
    expect(await owner.engine.waitFor(await stage.log.head(), 5000, ['readers'])).toMatchObject({ reached: true });
    expect(await states(standby.engine)).toEqual(['1.2 serving', '1.3 standby']);
    for (const schema of ['mneme_read', 'mneme_readers_1_3'])
      expect(await database.query(`SELECT sum(loans)::int AS loans FROM ${schema}.readers`)).toEqual([{ loans: 250 }]);
    expect(await operations()).toHaveLength(3);
  });

  it('happens once when both are asked to at the same moment', async () => {
    const owner = elsewhere([readersProjection(false)]);
    await owner.engine.start();
    const standby = elsewhere([readersProjection(false)]);
    await standby.engine.start();
    await stage.library.record(...many(0, 20));
    const rebuilds = await Promise.allSettled([owner.engine.rebuild('readers'), standby.engine.rebuild('readers')]);
    const refused = rebuilds.filter(({ status }) => status === 'rejected');
    // One after the other where the first was done before the second began.
    if (refused.length > 0) expect(refused).toMatchObject([{ reason: { code: 'rebuild_running' } }]);
    await owner.engine.rebuild('readers', { hold: true });
    const switches = await Promise.allSettled([
      owner.engine.switch('readers', request()),
      standby.engine.switch('readers', request()),
    ]);
    expect(switches.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(switches.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'no_ready_build' } });
  });

  it('is given up by a process that dies while it builds, and may be asked of another as soon as its lease is over', async () => {
    const owner = elsewhere([readersProjection(false)]);
    await owner.engine.start();
    await stage.library.record(...many(0, 50));
    await owner.engine.waitFor(49n, 5000, ['readers']);
    const doomed = elsewhere([readersProjection(false)]);
    let died: Promise<void> | undefined;
    const rebuilding = doomed.engine.rebuild('readers', { onProgress: () => void (died ??= doomed.die()) });
    await lateron(() => Promise.resolve(died !== undefined));
    await died;
    await lateron(async () => (await states(owner.engine)).join() === '1.1 serving');
    await expect(owner.engine.rebuild('readers')).resolves.toMatchObject({ version: 1 });
    await stage.library.record(...many(50, 50));
    await owner.engine.waitFor(await stage.log.head(), 5000, ['readers']);
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([{ loans: 50 }, { loans: 50 }]);
    await doomed.engine.stop();
    await rebuilding.catch(() => undefined);
  });

  it('leaves a rebuild of the next owner alone when that takes over in the middle of it', async () => {
    const owner = elsewhere([readersProjection(false)]);
    await owner.engine.start();
    await stage.library.record(...many(0, 20_00));
    await owner.engine.waitFor(1999n, 20_000, ['readers']);
    const next = elsewhere([readersProjection(false)]);
    await next.engine.start();
    let halfway: Promise<void> | undefined;
    const rebuilding = next.engine.rebuild('readers', { onProgress: () => void (halfway ??= owner.engine.stop()) });
    await expect(rebuilding).resolves.toMatchObject({ build: 2 });
    await halfway;
    await lateron(() => Promise.resolve(next.engine.projects));
    await stage.library.record(...many(3000, 10));
    expect(await next.engine.waitFor(await stage.log.head(), 5000, ['readers'])).toMatchObject({ reached: true });
    expect(await states(next.engine)).toEqual(['1.2 serving', '1.1 standby']);
    expect(await database.query('SELECT sum(loans)::int AS loans FROM mneme_read.readers')).toEqual([{ loans: 2010 }]);
  });

  it('lets a new version be built by whoever takes over, when the process that built it dies', async () => {
    await stage.library.record(...many(0, 100));
    await (await stage.projected([duesProjection()])).stop();
    const versions = [duesProjection(), duesProjection({ version: 2 })];
    const first = elsewhere(versions);
    await first.engine.start();
    await first.die();
    const second = elsewhere(versions);
    await second.engine.start();
    await lateron(async () => (await states(second.engine)).join() === '1.1 serving,2.1 ready');
    await second.engine.switch('dues', request());
    expect((await rowsOf(database, duesProjection({ version: 2 }))).dues).toHaveLength(100);
    await first.engine.stop();
  });

  it('compares builds at one position, however fast the log goes on', async () => {
    await stage.library.record(...many(0, 100));
    const engine = await stage.projected([readersProjection(false), shelfProjection], { batchEvents: 3 });
    await engine.rebuild('shelf', { hold: true });
    const done = new AbortController();
    const writer = (async () => {
      for (let loan = 1000; !done.signal.aborted; loan += 5) await stage.library.record(...many(loan, 5));
    })();
    const positions = new Set<bigint>();
    for (let again = 0; again < 30; again++) {
      const { equal, position, tables } = await engine.verify('shelf');
      expect([equal, tables[0]?.serving?.rows]).toEqual([true, tables[0]?.candidate?.rows]);
      positions.add(position);
    }
    done.abort();
    await writer;
    expect(positions.size).toBeGreaterThan(3);
  });
});
