import type { Database } from '../../src/database/database.js';
import { DatabaseFailure, DatabaseUnavailable } from '../../src/database/errors.js';
import { KeyUnavailable } from '../../src/encryption/errors.js';
import { LogUnavailable } from '../../src/event-log/errors.js';
import type { LogItem, StoredEvent } from '../../src/event-log/event-log.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { freshDatabase, testDatabaseUrl } from '../../test/support/database.js';
import { FaultyDatabase } from '../../test/support/faulty-database.js';
import {
  duesProjection,
  erased,
  extended,
  lent,
  libraryPrefix,
  loanId,
  readersProjection,
  shelfProjection,
  teams,
} from '../../test/support/library.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import { ProjectionDefect } from './errors.js';
import { describeError, isPassing } from './failures.js';
import type { Projection } from './projection.js';

describe('a failure', () => {
  it.each([
    ['the log is away', new LogUnavailable('x')],
    ['the database is away', new DatabaseUnavailable('40001')],
    ['a key is missing', new KeyUnavailable()],
    ['a statement was cancelled', new DatabaseFailure('57014', undefined, undefined)],
    ['the server cannot use its files', new DatabaseFailure('58030', undefined, undefined)],
  ])('passes when %s', (_, error) => expect(isPassing(error)).toBe(true));

  it.each([
    ['the database refuses a value', new DatabaseFailure('22003', 'dues', undefined)],
    ['a projection breaks the rules', new ProjectionDefect('x')],
    ['code throws', new TypeError('x')],
    ['code throws what is no error', 'x'],
  ])('does not pass when %s', (_, error) => expect(isPassing(error)).toBe(false));

  it.each([
    [new TypeError('cannot read properties of "my secret"'), 'TypeError'],
    [new DatabaseFailure('23505', 'dues', 'dues_pkey'), 'database_failure: SQLSTATE 23505 on dues (dues_pkey)'],
    [new ProjectionDefect('a row for dues has no days'), 'projection_defect: a row for dues has no days'],
    [Object.assign(new Error('my secret'), { code: 'event_integrity' }), 'event_integrity'],
    [Object.assign(new Error('my secret'), { code: 'my own words' }), 'Error'],
    ['my secret', 'string'],
  ])('is described without what somebody wrote', (error, description) => expect(describeError(error)).toBe(description));
});

describe('an event that a projection cannot apply', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  const story = [lent(1), lent(2, 'bob'), extended(1), lent(3), lent(4, 'eve'), erased(2)];

  /** What the projection's rows are where the log ends before the event at fault, but for what was erased later. */
  const rowsBefore = async (projection: Projection, position: number) => {
    await emptyLog(database);
    const short = new Stage(database);
    await short.library.record(...story.slice(0, position), erased(2));
    const engine = await short.projected([projection]);
    const rows = await rowsOf(database, projection);
    await engine.stop();
    return rows;
  };

  it.each([
    ['throws', 'cursed', 'TypeError, at BookLent in position 3'],
    ['violates the database’s limits', 'endless', 'database_failure: SQLSTATE 22003, at BookLent in position 3'],
  ])('stops only it, at the event before, when it %s', async (_, reader, last_error) => {
    await stage.library.record(...story.slice(0, 3), lent(3, reader), ...story.slice(4));
    const engine = await stage.projected([shelfProjection, duesProjection(), readersProjection()]);
    const [shelf, dues, readers] = await engine.status();
    expect(dues).toMatchObject({ state: 'stopped', position: 2n, last_error, lag: { positions: 3n } });
    expect([shelf, readers]).toMatchObject([
      { state: 'caught_up', position: 5n, last_error: null },
      { state: 'caught_up', position: 5n, last_error: null },
    ]);
    expect((await rowsOf(database, shelfProjection)).shelf?.map(({ loan_id }) => loan_id)).toEqual([
      loanId(1),
      loanId(3),
      loanId(4),
    ]);
    const stopped = await rowsOf(database, duesProjection());
    await stage.end();
    expect(stopped).toEqual(await rowsBefore(duesProjection(), 3));
  });

  it('leaves it stopped after a restart, until it is rebuilt by code that can apply the event', async () => {
    await stage.library.record(...story.slice(0, 3), lent(3, 'cursed'), ...story.slice(4));
    await (await stage.projected([shelfProjection, duesProjection()])).stop();
    const mended = duesProjection({ curse: false });
    const engine = await stage.projected([shelfProjection, mended]);
    await stage.library.record(lent(9));
    await stage.level(engine);
    expect((await engine.status())[1]).toMatchObject({ state: 'stopped', position: 2n });
    await engine.rebuild('dues');
    await stage.level(engine);
    expect((await engine.status())[1]).toMatchObject({ state: 'caught_up', position: 7n, last_error: null });
    expect((await rowsOf(database, mended)).dues?.map(({ loan_id }) => loan_id)).toEqual([1, 3, 4, 9].map(loanId));
  });

  it('stops every projection that fails, each at its own event', async () => {
    const failing = (name: string, loan: number): Projection => ({
      ...readersProjection(),
      name,
      tables: [],
      load: () => [],
      changes: ({ streamId }) => {
        if (streamId === loanId(loan)) throw new RangeError(name);
        return [];
      },
    });
    await stage.library.record(...story);
    const engine = await stage.projected([failing('first', 3), shelfProjection, failing('second', 2)]);
    expect((await engine.status()).map(({ name, state, position }) => [name, state, position])).toEqual([
      ['first', 'stopped', 2n],
      ['shelf', 'caught_up', 5n],
      ['second', 'stopped', 0n],
    ]);
  });

  it('stops a projection before the first event of the log', async () => {
    await stage.library.record(lent(1, 'cursed'));
    const engine = await stage.projected([duesProjection()]);
    expect(await engine.status()).toMatchObject([{ state: 'stopped', position: -1n }]);
  });

  describe('because it cannot be decoded', () => {
    const undecodable = (type: string, data: string) =>
      stage.log.append(`${libraryPrefix}loan-${teams[0]}_${loanId(7)}`, [{ id: loanId(7), type, data, metadata: '{}' }], {
        expected: 'no_stream',
      });

    it('stops those that want its type and no others', async () => {
      await stage.library.record(lent(1));
      await undecodable('LoanExtended', '{}');
      await stage.library.record(lent(2));
      const engine = await stage.projected([shelfProjection, readersProjection()]);
      expect(await engine.status()).toMatchObject([
        {
          name: 'shelf',
          state: 'stopped',
          position: 0n,
          last_error: expect.stringContaining(', at LoanExtended in position 1') as string,
        },
        { name: 'readers', state: 'caught_up', position: 2n },
      ]);
    });

    it('is passed over when nobody wants its type', async () => {
      await undecodable('NobodyKnowsThis', '{}');
      await stage.library.record(lent(2));
      const engine = await stage.projected([shelfProjection]);
      expect(await engine.status()).toMatchObject([{ state: 'caught_up', position: 1n }]);
    });

    it('stops only those that need its content when only that is damaged', async () => {
      await stage.library.record(lent(1));
      await database.query(
        `UPDATE mneme.events SET data = regexp_replace(data, '"sealed":\\{"([^"]+)":"...', '"sealed":{"\\1":"xxx')`,
      );
      const engine = await stage.projected([shelfProjection, readersProjection()]);
      expect(await engine.status()).toMatchObject([
        { name: 'shelf', state: 'stopped', last_error: 'event_integrity, at BookLent in position 0' },
        { name: 'readers', state: 'caught_up' },
      ]);
    });
  });
});

/** A real log whose subscriptions break after their first item, three times. */
class UnsteadyLog extends PostgresEventLog {
  private breaks = 3;

  override async *subscribe(options: Parameters<PostgresEventLog['subscribe']>[0]): AsyncGenerator<LogItem, void, undefined> {
    for await (const item of super.subscribe(options)) {
      yield item;
      if (this.breaks-- > 0) throw new LogUnavailable('gone');
    }
  }
}

describe('passing trouble', () => {
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

  const counts = async () => (await rowsOf(database, readersProjection())).readers?.map(({ reader, loans }) => [reader, loans]);

  it('a checkpoint outside the read model’s transaction miscounts', async () => {
    const engine = stage.engine([readersProjection(false)], { batchEvents: 20 });
    database.next('lost', 'lost_answer', undefined, 'lost_answer', 'lost', undefined, 'lost');
    await stage.library.record(...Array.from({ length: 100 }, (_, index) => lent(index, index % 2 ? 'bob' : 'ada')));
    await engine.start();
    await stage.level(engine);
    expect(await counts()).toEqual([
      ['ada', 50],
      ['bob', 50],
    ]);
  });

  it('a commit whose answer was lost is found out by reading the checkpoint', async () => {
    const engine = await stage.projected([readersProjection(false)]);
    database.next('lost_answer');
    await stage.library.record(lent(1));
    await stage.level(engine);
    await stage.library.record(lent(2));
    await stage.level(engine);
    expect(await counts()).toEqual([['ada', 2]]);
    expect(await engine.status()).toMatchObject([{ state: 'caught_up', position: 1n, last_error: null }]);
  });

  it('a projection stopped by a commit whose answer was lost stays stopped', async () => {
    const engine = await stage.projected([readersProjection(false), duesProjection()]);
    database.next(undefined, 'lost_answer');
    await stage.library.record(lent(1, 'cursed'));
    await stage.level(engine);
    await stage.library.record(lent(2));
    await stage.level(engine);
    expect(await engine.status()).toMatchObject([
      { state: 'caught_up', position: 1n },
      { state: 'stopped', position: -1n },
    ]);
    expect(await counts()).toEqual([
      ['ada', 1],
      ['cursed', 1],
    ]);
  });

  it('a missing key holds everything up, says so, and stops nobody', async () => {
    const { codec } = stage.library;
    let missing = true;
    const engine = await stage.projected([shelfProjection, readersProjection(false)], {
      codec: {
        streamPrefix: codec.streamPrefix,
        decode: (events: readonly StoredEvent[], options) =>
          missing ? Promise.reject(new KeyUnavailable()) : codec.decode(events, options),
      },
    });
    await stage.library.record(lent(1));
    expect(await engine.waitFor(0n, 200, ['readers'])).toEqual({ reached: false, position: -1n });
    expect(await engine.status()).toMatchObject([
      { state: 'catching_up', last_error: 'key_unavailable' },
      { state: 'catching_up', last_error: 'key_unavailable' },
    ]);
    missing = false;
    await stage.level(engine);
    expect(await engine.status()).toMatchObject([
      { state: 'caught_up', last_error: null },
      { state: 'caught_up', last_error: null },
    ]);
  });

  it('a log that goes away and comes back is subscribed to again', async () => {
    await stage.library.record(lent(1), lent(2), lent(3), lent(4), lent(5));
    await stage.projected([readersProjection(false)], { log: new UnsteadyLog(database, { pollMs: 5 }) });
    expect(await counts()).toEqual([['ada', 5]]);
  });
});
