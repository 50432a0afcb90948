import type { Database } from '../../src/database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import { lent, readersProjection } from '../../test/support/library.js';
import { emptyLog, Stage } from '../../test/support/projections.js';

const leaseMs = 600;

describe('the lease of the projections', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  const projections = [readersProjection(false)];
  const epoch = async () => (await database.query<{ epoch: bigint }>('SELECT epoch FROM mneme.projection_group'))[0]?.epoch;
  const loans = async () =>
    (await database.query<{ loans: number }>('SELECT coalesce(sum(loans), 0)::int AS loans FROM mneme_read.readers'))[0]?.loans;
  const started = async () => {
    const engine = stage.engine(projections, { leaseMs });
    await engine.start();
    return engine;
  };
  /** Another process takes over, and is never heard of again. */
  const ownedByTheDead = () =>
    database.query(
      `UPDATE mneme.projection_group SET epoch = epoch + 1, lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'`,
    );

  it('keeps a second process from taking them from a living one, and the second reads what the first applies', async () => {
    await started();
    const owned = await epoch();
    const second = await started();
    await stage.library.record(lent(1), lent(2));
    await stage.level(second);
    await new Promise((resolve) => setTimeout(resolve, 2 * leaseMs));
    await stage.library.record(lent(3));
    await stage.level(second);
    expect([await epoch(), await loans()]).toEqual([owned, 3]);
    expect(await second.status()).toMatchObject([{ state: 'caught_up', last_error: null }]);
  });

  it('lets the second take over as soon as the first has ended', async () => {
    const first = await started();
    const second = await started();
    await first.stop();
    await stage.library.record(lent(1));
    await stage.level(second);
    expect(await loans()).toBe(1);
  });

  it('lets another take over from an owner that fell silent', async () => {
    await (await started()).stop();
    await ownedByTheDead();
    const second = await started();
    await stage.library.record(lent(1));
    await stage.level(second);
    expect(await loans()).toBe(1);
  });

  it('brings an owner back that was taken over, once the other is gone', async () => {
    const first = await started();
    await ownedByTheDead();
    await stage.library.record(lent(1), lent(2));
    await stage.level(first);
    expect(await loans()).toBe(2);
  });
});
