import {
  duesProjection,
  erased,
  extended,
  lent,
  loanId,
  readersProjection,
  returned,
  shelfProjection,
  teams,
} from '../../test/support/library.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import { freshDatabase } from '../../test/support/database.js';
import type { Database } from '../../src/database/database.js';

describe('the projection engine', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  it('applies what the log holds and what comes later', async () => {
    await stage.library.record(lent(1), lent(2, 'bob'), extended(1));
    const engine = await stage.projected([shelfProjection, readersProjection(), duesProjection()]);
    await stage.library.record(returned(2), lent(3, 'ada'));
    await stage.level(engine);
    const rows = await rowsOf(database, shelfProjection);
    expect(rows.shelf?.map(({ loan_id, reader, extensions, note }) => ({ loan_id, reader, extensions, note }))).toEqual([
      { loan_id: loanId(1), reader: 'ada', extensions: 1, note: 'with care' },
      { loan_id: loanId(3), reader: 'ada', extensions: 0, note: 'with care' },
    ]);
    expect(rows.shelf_history?.map(({ position, removed }) => [position, removed])).toEqual([
      [0n, false],
      [2n, false],
      [1n, false],
      [3n, true],
      [4n, false],
    ]);
    expect((await rowsOf(database, readersProjection())).readers?.map(({ reader, loans }) => [reader, loans])).toEqual([
      ['ada', 2],
      ['bob', 1],
    ]);
    expect((await engine.status()).map(({ name, state, position }) => ({ name, state, position }))).toEqual([
      { name: 'shelf', state: 'caught_up', position: 4n },
      { name: 'readers', state: 'caught_up', position: 4n },
      { name: 'dues', state: 'caught_up', position: 4n },
    ]);
  });

  it('detaches the projection that cannot apply an event, at the event before it, and goes on with the others', async () => {
    await stage.library.record(lent(1), lent(2, 'cursed'), lent(3));
    const engine = await stage.projected([shelfProjection, duesProjection()]);
    expect((await rowsOf(database, duesProjection())).dues?.map(({ loan_id }) => loan_id)).toEqual([loanId(1)]);
    expect((await rowsOf(database, shelfProjection)).shelf).toHaveLength(3);
    const [, dues] = await engine.status();
    expect(dues).toMatchObject({ state: 'stopped', position: 0n, last_error: 'TypeError, at BookLent in position 1' });
  });

  it('rebuilds', async () => {
    await stage.library.record(lent(1), lent(2, 'cursed'), lent(3), erased(1));
    const engine = await stage.projected([shelfProjection, duesProjection()]);
    await expect(engine.rebuild('dues')).rejects.toMatchObject({ code: 'rebuild_failed' });
    await engine.stop();
    const fixed = await stage.projected([shelfProjection, duesProjection({ curse: false })]);
    expect((await fixed.status())[1]).toMatchObject({ state: 'stopped' });
    await fixed.rebuild('dues');
    expect((await fixed.status())[1]).toMatchObject({ state: 'caught_up', last_error: null });
    expect(teams).toHaveLength(2);
  });
});
