import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../src/database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import {
  duesProjection,
  extended,
  lent,
  loanId,
  readersProjection,
  returned,
  shelfProjection,
  teams,
} from '../../test/support/library.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import { ProjectionEngine } from './projection-engine.js';

const everything = [shelfProjection, readersProjection(), duesProjection()];

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
    const engine = await stage.projected(everything);
    await stage.library.record(returned(2), lent(3));
    await stage.level(engine);
    const { shelf, shelf_history } = await rowsOf(database, shelfProjection);
    expect(shelf?.map(({ loan_id, reader, extensions, note }) => [loan_id, reader, extensions, note])).toEqual([
      [loanId(1), 'ada', 1, 'with care'],
      [loanId(3), 'ada', 0, 'with care'],
    ]);
    expect(shelf_history?.map(({ loan_id, position, removed }) => [loan_id, position, removed])).toEqual([
      [loanId(1), 0n, false],
      [loanId(1), 2n, false],
      [loanId(2), 1n, false],
      [loanId(2), 3n, true],
      [loanId(3), 4n, false],
    ]);
    const { readers } = await rowsOf(database, readersProjection());
    expect(readers?.map(({ reader, loans }) => [reader, loans])).toEqual([
      ['ada', 2],
      ['bob', 1],
    ]);
  });

  it('goes on where it was after a restart', async () => {
    await stage.library.record(lent(1));
    await (await stage.projected([readersProjection(false)])).stop();
    await stage.library.record(lent(2));
    await stage.projected([readersProjection(false)]);
    expect((await rowsOf(database, readersProjection())).readers).toMatchObject([{ reader: 'ada', loans: 2 }]);
  });

  it('gives content only to the projections that need it', async () => {
    await stage.library.record(lent(1));
    const engine = await stage.projected([shelfProjection, readersProjection()]);
    expect((await engine.status()).map(({ state }) => state)).toEqual(['caught_up', 'caught_up']);
  });

  it('opens no box when no projection needs content', async () => {
    await stage.library.record(lent(1));
    const decoded: (boolean | undefined)[] = [];
    const { codec } = stage.library;
    await stage.projected([readersProjection()], {
      codec: {
        streamPrefix: codec.streamPrefix,
        decode: (events, options) => {
          decoded.push(options?.content);
          return codec.decode(events, options);
        },
      },
    });
    expect(decoded).toEqual([false]);
  });

  it('tells who waits for it after each batch', async () => {
    let batches = 0;
    const engine = await stage.projected([readersProjection()], { onBatch: () => batches++ });
    await stage.library.record(lent(1));
    await stage.level(engine);
    expect(batches).toBe(1);
  });

  it('refuses two projections that would share a name or a table', () => {
    const { log, operations, library } = stage;
    const options = { database, log, operations, codec: library.codec, logId: 'log' };
    expect(() => new ProjectionEngine({ ...options, projections: [shelfProjection, shelfProjection] })).toThrow(
      'two projections are named shelf',
    );
    expect(
      () => new ProjectionEngine({ ...options, projections: [shelfProjection, { ...shelfProjection, name: 'other' }] }),
    ).toThrow('two tables are named shelf');
    expect(() => new ProjectionEngine({ ...options, projections: [{ ...shelfProjection, name: 'Shelf"' }] })).toThrow(
      'no name for a projection',
    );
  });

  describe('status', () => {
    it('is caught up with no lag when everything is applied', async () => {
      await stage.library.record(lent(1), lent(2));
      const engine = await stage.projected([shelfProjection]);
      expect(await engine.status()).toEqual([
        {
          name: 'shelf',
          version: 1,
          state: 'caught_up',
          position: 1n,
          head: 1n,
          lag: { positions: 0n, seconds: 0 },
          rate: 2,
          eta_seconds: 0,
          last_error: null,
          build: 1,
          rebuild: null,
          rebuild_error: null,
          builds: [
            {
              version: 1,
              build: 1,
              role: 'serving',
              state: 'serving',
              projected: true,
              position: 1n,
              lag: { positions: 0n, seconds: 0 },
              rate: 2,
              eta_seconds: 0,
              last_error: null,
              failed_position: null,
              purged: true,
            },
          ],
        },
      ]);
    });

    it('says how far behind an engine that does not run is, and since when', async () => {
      await stage.library.record(lent(1));
      const engine = await stage.projected([shelfProjection]);
      await engine.stop();
      await stage.library.record(lent(2), lent(3));
      await sleep(20);
      const [status] = await engine.status();
      expect(status).toMatchObject({ state: 'catching_up', position: 0n, head: 2n, lag: { positions: 2n }, eta_seconds: null });
      expect(status?.lag.seconds).toBeGreaterThanOrEqual(0.02);
      expect(status?.lag.seconds).toBeLessThan(5);
    });

    it('is caught up when what is left in the log is not ours', async () => {
      await stage.library.record(lent(1));
      const engine = await stage.projected([shelfProjection]);
      await engine.stop();
      await stage.log.append('others-stream', [{ id: loanId(1), type: 'Other', data: '{}', metadata: '{}' }], {
        expected: 'no_stream',
      });
      const [status] = await engine.status();
      expect(status).toMatchObject({ state: 'caught_up', position: 0n, head: 1n, lag: { positions: 0n, seconds: 0 } });
    });
  });

  describe('waiting for a position', () => {
    it('ends when the group has applied it', async () => {
      const engine = await stage.projected([shelfProjection]);
      const [position = -1n] = await stage.library.record(lent(1));
      expect(await engine.waitFor(position, 5000, ['shelf'])).toEqual({ reached: true, position });
      expect((await rowsOf(database, shelfProjection)).shelf).toHaveLength(1);
    });

    it('ends at the deadline with the position that was reached', async () => {
      await stage.library.record(lent(1));
      const engine = await stage.projected([shelfProjection]);
      const started = performance.now();
      expect(await engine.waitFor(99n, 60, ['shelf'])).toEqual({ reached: false, position: 0n });
      expect(performance.now() - started).toBeGreaterThanOrEqual(55);
    });

    it('does not wait for a stopped projection, which will not get there', async () => {
      await stage.library.record(lent(1), lent(2, 'cursed'), lent(3));
      const engine = await stage.projected([shelfProjection, duesProjection()]);
      const started = performance.now();
      expect(await engine.waitFor(2n, 10_000, ['shelf', 'dues'])).toEqual({ reached: false, position: 0n });
      expect(performance.now() - started).toBeLessThan(5000);
      expect(await engine.waitFor(2n, 10_000, ['shelf'])).toEqual({ reached: true, position: 2n });
      expect(await engine.waitFor(0n, 10_000, ['dues'])).toEqual({ reached: true, position: 0n });
    });

    it('sees what another engine applies', async () => {
      const engine = await stage.projected([shelfProjection]);
      const reader = stage.engine([shelfProjection]);
      await stage.level(engine);
      const waiting = reader.waitFor(0n, 5000, ['shelf']);
      await stage.library.record(lent(1));
      expect(await waiting).toEqual({ reached: true, position: 0n });
    });

    it('ends with the signal', async () => {
      const engine = await stage.projected([shelfProjection]);
      const abort = new AbortController();
      const waiting = engine.waitFor(99n, 60_000, ['shelf'], abort.signal);
      abort.abort(new Error('the client hung up'));
      await expect(waiting).rejects.toThrow('the client hung up');
    });

    it('refuses a projection that nobody declared', async () => {
      const engine = await stage.projected([shelfProjection]);
      await expect(engine.waitFor(0n, 10, ['shelves'])).rejects.toMatchObject({ code: 'projection_unknown' });
    });
  });

  it('keeps teams apart in rows and history', async () => {
    await stage.library.record(lent(1, 'ada', 'a', teams[0]), lent(1, 'bob', 'b', teams[1]));
    await stage.projected([shelfProjection]);
    for (const [team, reader] of [
      [teams[0], 'ada'],
      [teams[1], 'bob'],
    ] as const) {
      const seen = await database.asTeam(team, (queries) =>
        queries.query('SELECT reader FROM mneme_read.shelf UNION ALL SELECT reader FROM mneme_read.shelf_history'),
      );
      expect(seen).toEqual([{ reader }, { reader }]);
    }
  });
});
