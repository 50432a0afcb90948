import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import { duesProjection, erased, lent, loanId, shelfProjection } from '../../test/support/library.js';
import { request } from '../../test/support/operator.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import type { ProjectionEngine } from './projection-engine.js';
import { projection, type Projection } from './projection.js';

const failing = duesProjection();
const careless = duesProjection({ curse: false });

describe('an event that is skipped', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
    await stage.library.record(lent(1), lent(2, 'cursed'), lent(3));
  });
  afterEach(() => stage.end());

  const states = async (engine: ProjectionEngine) =>
    ((await engine.status())[0]?.builds ?? []).map(({ version, build, state }) => `${version}.${build} ${state}`);
  const until = async (engine: ProjectionEngine, ...wanted: string[]) => {
    for (let tries = 0; tries < 400 && (await states(engine)).join() !== wanted.join(); tries++) await sleep(10);
    expect(await states(engine)).toEqual(wanted);
  };
  const loans = async () => (await rowsOf(database, careless)).dues?.map(({ loan_id }) => loan_id);

  it('lets the build that stopped at it go on, with all that came since', async () => {
    const engine = await stage.projected([failing]);
    expect((await engine.status())[0]?.builds).toMatchObject([{ state: 'stopped', failed_position: 1n, position: 0n }]);
    await stage.library.record(lent(4));
    const written = await engine.skip('dues', 1n, 'the reader is a test', request());
    await until(engine, '1.1 serving');
    await stage.library.record(lent(5));
    await stage.level(engine);
    expect(await loans()).toEqual([1, 3, 4, 5].map(loanId));
    expect(await engine.status()).toMatchObject([{ state: 'caught_up', last_error: null }]);
    const [event] = await collect(stage.log.readStream('library_operation-system_dues'));
    expect(event).toMatchObject({ type: 'EventSkipped', position: written.position });
    expect(JSON.parse(event?.data ?? '')).toMatchObject({ projection: 'dues', version: 1, position: '1' });
    expect(event?.data).not.toContain('the reader is a test');
  });

  it('is left out by rebuilds of every version, also by code that could apply it', async () => {
    const engine = await stage.projected([failing]);
    await engine.skip('dues', 1n, undefined, request());
    await until(engine, '1.1 serving');
    await engine.rebuild('dues');
    expect(await loans()).toEqual([1, 3].map(loanId));
    await engine.stop();
    const newer = await stage.projected([duesProjection({ curse: false, version: 2 })]);
    await until(newer, '2.1 serving', '1.2 stopped');
    expect(await loans()).toEqual([1, 3].map(loanId));
  });

  it('lets a new version go on that stopped while it was built', async () => {
    await (await stage.projected([careless])).stop();
    const engine = await stage.projected([careless, duesProjection({ version: 2 })]);
    await until(engine, '1.1 serving', '2.1 stopped');
    await expect(engine.switch('dues', request())).rejects.toMatchObject({ code: 'ready_build_stopped' });
    await expect(engine.verify('dues')).rejects.toMatchObject({ code: 'builds_not_level' });
    await engine.skip('dues', 1n, undefined, request());
    await until(engine, '1.1 serving', '2.1 ready');
    // What serves had applied it, and says so when the two are compared.
    expect((await engine.verify('dues')).tables[0]?.differences).toMatchObject([{ found: 'only_serving' }]);
  });

  it('is refused where nothing stopped', async () => {
    const engine = await stage.projected([failing]);
    for (const position of [0n, 2n, 99n])
      await expect(engine.skip('dues', position, undefined, request())).rejects.toMatchObject({ code: 'nothing_stopped_there' });
    await expect(engine.skip('dus', 1n, undefined, request())).rejects.toMatchObject({ code: 'projection_unknown' });
    expect(await states(engine)).toEqual(['1.1 stopped']);
  });

  it('is skipped once for one command, however often it is sent', async () => {
    const engine = await stage.projected([failing]);
    const command = request();
    const once = await engine.skip('dues', 1n, undefined, command);
    await until(engine, '1.1 serving');
    expect(await engine.skip('dues', 1n, undefined, command)).toEqual(once);
    await expect(engine.skip('dues', 1n, undefined, request())).rejects.toMatchObject({ code: 'nothing_stopped_there' });
  });

  it('is never an erasure, which would leave what it erases', async () => {
    const clumsy: Projection = projection({
      ...(careless as Projection<{ type: string }>),
      changes: (event, rows) => {
        if (event.data.type === 'LoanErased') throw new TypeError('oh');
        return careless.changes(event, rows);
      },
    });
    await stage.library.record(erased(1));
    const engine = await stage.projected([clumsy]);
    expect(await states(engine)).toEqual(['1.1 stopped']);
    await expect(engine.skip('dues', 3n, undefined, request())).rejects.toMatchObject({ code: 'erasure_not_skippable' });
    // Though it cannot apply the erasure, it does not keep what was erased, and cannot go on from there.
    expect(await loans()).toEqual([2, 3].map(loanId));
    await engine.stop();
    await until(await stage.projected([careless]), '1.2 serving', '1.1 stopped');
    expect(await loans()).toEqual([2, 3].map(loanId));
  });

  it('that stopped several builds lets all of them go on', async () => {
    await (await stage.projected([shelfProjection])).stop();
    const engine = await stage.projected([failing, shelfProjection]);
    await until(engine, '1.1 stopped');
    await expect(engine.rebuild('dues', { hold: true })).rejects.toMatchObject({ code: 'rebuild_failed' });
    expect(await states(engine)).toEqual(['1.1 stopped', '1.2 stopped']);
    await engine.skip('dues', 1n, undefined, request());
    await until(engine, '1.1 serving', '1.2 ready');
  });

  it('is found in the log by the next owner, when the process that skipped it ended before anything went on', async () => {
    const engine = await stage.projected([failing]);
    await engine.stop();
    await stage.operations.skip({ projection: 'dues', position: 1n, reason: undefined, stopped: 1, erasure: false }, request());
    await until(await stage.projected([failing]), '1.1 serving');
    expect(await loans()).toEqual([1, 3].map(loanId));
  });
});

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
