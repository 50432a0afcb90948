import type { Database } from '../../src/database/database.js';
import { KeyUnavailable } from '../../src/encryption/errors.js';
import { freshDatabase, testDatabaseUrl } from '../../test/support/database.js';
import { FaultyDatabase } from '../../test/support/faulty-database.js';
import {
  duesProjection,
  erased,
  extended,
  lent,
  left,
  readersProjection,
  returned,
  shelfProjection,
} from '../../test/support/library.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import type { RebuildProgress } from './status.js';
import { request } from '../../test/support/operator.js';

const story = [
  lent(1),
  lent(2, 'bob'),
  extended(1),
  returned(2),
  lent(3, 'eve'),
  left('eve'),
  lent(4),
  erased(4),
  lent(5, 'bob'),
];

describe('a rebuild', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  const builds = () =>
    database.query<{ schema: string; state: string; role: string }>(
      'SELECT schema_name AS schema, state, role FROM mneme.projection_builds ORDER BY name, version, build',
    );
  const schemas = async () =>
    (
      await database.query<{ name: string }>(
        `SELECT nspname AS name FROM pg_namespace WHERE nspname ~ '^mneme_.*_[0-9]+_[0-9]+$' ORDER BY 1`,
      )
    ).map(({ name }) => name);

  it('makes the same rows in a schema of its own, and lets the old one stand by', async () => {
    await stage.library.record(...story);
    const engine = await stage.projected([shelfProjection, readersProjection()]);
    const live = await rowsOf(database, shelfProjection);
    await engine.rebuild('shelf');
    expect(await rowsOf(database, shelfProjection)).toEqual(live);
    expect(await builds()).toEqual([
      { schema: 'mneme_readers_1_1', state: 'active', role: 'serving' },
      { schema: 'mneme_shelf_1_1', state: 'active', role: 'standby' },
      { schema: 'mneme_shelf_1_2', state: 'active', role: 'serving' },
    ]);
    expect(await schemas()).toEqual(['mneme_readers_1_1', 'mneme_shelf_1_1', 'mneme_shelf_1_2']);
  });

  it('keeps one build that stands by, the last that served', async () => {
    await stage.library.record(...story);
    const engine = await stage.projected([shelfProjection]);
    await engine.rebuild('shelf');
    await engine.rebuild('shelf');
    expect(await schemas()).toEqual(['mneme_shelf_1_2', 'mneme_shelf_1_3']);
    expect((await builds()).map(({ state, role }) => [state, role])).toEqual([
      ['retired', 'standby'],
      ['active', 'standby'],
      ['active', 'serving'],
    ]);
  });

  it('joins the group: later events reach it', async () => {
    await stage.library.record(...story);
    const engine = await stage.projected([readersProjection(false)]);
    await engine.rebuild('readers');
    await stage.library.record(lent(6), lent(7));
    await stage.level(engine);
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([
      { reader: 'ada', loans: 4 },
      { reader: 'bob', loans: 2 },
    ]);
  });

  it('serves the old rows until it is complete; rows that differ are not switched to by themselves', async () => {
    await stage.library.record(...story);
    const engine = await stage.projected([readersProjection()]);
    await database.query(`UPDATE mneme_read.readers SET loans = 1000 WHERE reader = 'ada'`);
    const loansOfAda = async () =>
      (await database.query<{ loans: number }>(`SELECT loans FROM mneme_read.readers WHERE reader = 'ada'`))[0]?.loans;
    const reads: Promise<unknown>[] = [];
    const rebuilding = engine.rebuild('readers', { onProgress: () => reads.push(loansOfAda()) });
    await expect(rebuilding).rejects.toMatchObject({ code: 'rebuild_differs' });
    expect(new Set(await Promise.all(reads))).toEqual(new Set([1000]));
    expect(await loansOfAda()).toBe(1000);
    expect(await engine.status()).toMatchObject([{ rebuild_error: 'rebuild_differs' }]);
    await engine.switch('readers', request());
    expect(await loansOfAda()).toBe(2);
  });

  it('tells how far it is', async () => {
    await stage.library.record(...story);
    const engine = await stage.projected([shelfProjection]);
    const told: RebuildProgress[] = [];
    await engine.rebuild('shelf', { onProgress: (progress) => told.push(progress) });
    expect(told.at(-1)).toMatchObject({ projection: 'shelf', position: 8n, head: 8n, events: 9 });
    expect(told.at(-1)?.rate).toBeGreaterThan(0);
  });

  it('keeps up with a log that grows meanwhile', async () => {
    await stage.library.record(...Array.from({ length: 300 }, (_, index) => lent(index)));
    const engine = await stage.projected([readersProjection(false)]);
    const rebuilt = new AbortController();
    const writer = (async () => {
      for (let loan = 1000; !rebuilt.signal.aborted; loan++) await stage.library.record(lent(loan));
    })();
    await engine.rebuild('readers');
    await engine.rebuild('readers');
    rebuilt.abort();
    await writer;
    await stage.level(engine);
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([
      // All of the log but the two switches.
      { loans: Number(await stage.log.head()) - 1 },
    ]);
  });

  it('of one projection runs once at a time', async () => {
    await stage.library.record(...story);
    const engine = await stage.projected([shelfProjection, readersProjection()]);
    const first = engine.rebuild('shelf');
    const second = engine.rebuild('shelf');
    const other = engine.rebuild('readers');
    await expect(Promise.all([first, second])).rejects.toMatchObject({ code: 'rebuild_running' });
    await Promise.allSettled([first, second, other]);
    await expect(other).resolves.toMatchObject({ build: 2 });
    await expect(engine.rebuild('shelf')).resolves.toMatchObject({ build: 3 });
  });

  it('is refused for a projection that nobody declared', async () => {
    const engine = await stage.projected([shelfProjection]);
    await expect(engine.rebuild('shelves')).rejects.toMatchObject({ code: 'projection_unknown' });
  });

  it('that meets an event it cannot apply fails with the reason, and what served still serves', async () => {
    await stage.library.record(lent(1), lent(2, 'cursed'), lent(3));
    const engine = await stage.projected([duesProjection({ curse: false })]);
    const before = await rowsOf(database, duesProjection());
    await engine.stop();
    const worse = await stage.projected([duesProjection()]);
    await expect(worse.rebuild('dues')).rejects.toMatchObject({
      code: 'rebuild_failed',
      reason: 'TypeError, at BookLent in position 1',
    });
    expect(await rowsOf(database, duesProjection())).toEqual(before);
    expect(await worse.status()).toMatchObject([
      { state: 'caught_up', position: 2n, build: 1, rebuild: null, rebuild_error: 'TypeError, at BookLent in position 1' },
    ]);
    // It is kept, so that the event may be skipped.
    expect(await builds()).toEqual([
      { schema: 'mneme_dues_1_1', state: 'active', role: 'serving' },
      { schema: 'mneme_dues_1_2', state: 'stopped', role: 'ready' },
    ]);
  });

  it('that fails leaves a stopped projection stopped', async () => {
    await stage.library.record(lent(1), lent(2, 'cursed'));
    const engine = await stage.projected([duesProjection()]);
    await expect(engine.rebuild('dues')).rejects.toMatchObject({ code: 'rebuild_failed' });
    expect(await engine.status()).toMatchObject([
      { state: 'stopped', position: 0n, last_error: 'TypeError, at BookLent in position 1' },
    ]);
  });

  it('ends when the engine stops, and leaves nothing behind', async () => {
    await stage.library.record(...story);
    const { codec } = stage.library;
    const engine = await stage.projected([readersProjection(), shelfProjection]);
    const hopeless = stage.engine([readersProjection(), shelfProjection], {
      codec: { streamPrefix: codec.streamPrefix, decode: () => Promise.reject(new KeyUnavailable()) },
    });
    await engine.stop();
    await hopeless.start();
    const rebuilding = hopeless.rebuild('shelf');
    const failed = expect(rebuilding).rejects.toMatchObject({ code: 'rebuild_failed', reason: 'the engine stopped' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    // While it is being made, beside the build that serves, its position and speed are told.
    expect((await hopeless.status()).find(({ name }) => name === 'shelf')).toMatchObject({
      build: 1,
      rebuild: { position: -1n, rate: 0, eta_seconds: null },
    });
    await hopeless.stop();
    await failed;
    expect(await schemas()).toEqual(['mneme_readers_1_1', 'mneme_shelf_1_1']);
  });
});

describe('a rebuild on a bad connection', () => {
  let database: FaultyDatabase;
  let stage: Stage;
  beforeAll(async () => {
    await (await freshDatabase()).close();
    const { url, embedded } = testDatabaseUrl();
    database = new FaultyDatabase(url, embedded, 10);
  });
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  it('counts no event twice and none never', async () => {
    await stage.library.record(...Array.from({ length: 500 }, (_, index) => lent(index)));
    const engine = await stage.projected([readersProjection(false)]);
    database.next('lost', 'lost_answer', undefined, 'lost_answer', 'lost');
    await engine.rebuild('readers');
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([{ reader: 'ada', loans: 500 }]);
  });
});
