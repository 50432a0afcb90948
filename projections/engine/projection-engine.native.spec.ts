import { setTimeout as sleep } from 'node:timers/promises';
import { Database } from '../../src/database/database.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { freshDatabase, testDatabaseUrl } from '../../test/support/database.js';
import { duesProjection, lent, loanId, readersProjection, shelf, shelfProjection, teams } from '../../test/support/library.js';
import { emptyLog, rowsOf, Stage } from '../../test/support/projections.js';
import { advanceGroup, readGroup, type GroupRow } from './checkpoint.js';
import { shapeOf } from './table-shape.js';
import { selectRows } from './table-sql.js';

/** A real log that goes on while somebody asks where it ends. */
class OutrunLog extends PostgresEventLog {
  constructor(
    database: Database,
    private readonly meanwhile: () => Promise<void>,
  ) {
    super(database);
  }

  override async head(): Promise<bigint> {
    const head = await super.head();
    await this.meanwhile();
    return head;
  }
}

/** What needs several connections at once: other owners, killed backends, readers beside a switch. */
describe('several processes on one server', () => {
  let database: Database;
  let stage: Stage;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());
  beforeEach(async () => {
    await emptyLog(database);
    stage = new Stage(database);
  });
  afterEach(() => stage.end());

  /** As another process would: connections of its own. */
  async function elsewhere<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const other = new Database(testDatabaseUrl().url, false, 5);
    try {
      return await work(other);
    } finally {
      await other.close();
    }
  }

  const loans = async () =>
    Number((await database.query<{ sum: bigint | null }>('SELECT sum(loans) AS sum FROM mneme_read.readers'))[0]?.sum ?? 0n);
  const many = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => lent(from + index, index % 2 ? 'bob' : 'ada'));

  /** Holds the table of due dates, so that a batch gets stuck after it wrote to the readers. */
  async function withDuesHeld(work: (other: Database) => Promise<void>): Promise<void> {
    await elsewhere((other) =>
      other.asOwner(async (queries) => {
        await queries.execute('LOCK TABLE mneme_dues_1_1.dues IN ACCESS EXCLUSIVE MODE');
        await work(other);
      }),
    );
  }

  async function stuckBackend(other: Database): Promise<number> {
    for (;;) {
      const [stuck] = await other.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%"dues"%'`,
      );
      if (stuck) return stuck.pid;
      await sleep(5);
    }
  }

  it('a backend killed between a write and the commit leaves nothing counted twice', async () => {
    const engine = await stage.projected([readersProjection(false), duesProjection()]);
    await withDuesHeld(async (other) => {
      await stage.library.record(...many(0, 50));
      const pid = await stuckBackend(other);
      await other.query('SELECT pg_terminate_backend($1)', [pid]);
      await stuckBackend(other);
    });
    await stage.level(engine);
    expect(await loans()).toBe(50);
    expect(await engine.status()).toMatchObject([{ last_error: null }, { state: 'caught_up' }]);
  });

  it('a second owner waits for the batch of the first, which then stands by', async () => {
    const first = await stage.projected([readersProjection(false), duesProjection()]);
    let second = first;
    await elsewhere(async (own) => {
      const there = new Stage(own);
      let starting: Promise<unknown> = Promise.resolve();
      await withDuesHeld(async (other) => {
        await stage.library.record(...many(0, 50));
        await stuckBackend(other);
        second = there.engine([readersProjection(false), duesProjection()]);
        starting = second.start();
        await sleep(100);
        expect(await loans()).toBe(0);
      });
      await starting;
      await stage.library.record(...many(100, 50));
      await stage.level(second);
      expect(await loans()).toBe(100);
      expect(await first.waitFor(99n, 5000, ['readers'])).toEqual({ reached: true, position: 99n });
      expect((await first.status())[0]).toMatchObject({ last_error: 'superseded: another process has taken over' });
      await there.end();
    });
  });

  it('owners that keep taking over from each other count every event once', async () => {
    const writer = (async () => {
      for (let loan = 0; loan < 400; loan += 20) await stage.library.record(...many(loan, 20));
    })();
    let last = await stage.projected([readersProjection(false)]);
    for (let turn = 0; turn < 6; turn++) {
      last = stage.engine([readersProjection(false)]);
      await last.start();
      await sleep(10);
    }
    await writer;
    await stage.level(last);
    expect(await loans()).toBe(400);
  });

  it('may start at the same moment on an empty database', async () => {
    const engines = [1, 2, 3].map(() => stage.engine([shelfProjection, readersProjection(false)]));
    await Promise.all(engines.map((engine) => engine.start()));
    await stage.library.record(...many(0, 10));
    expect(await engines[0]?.waitFor(9n, 5000, ['readers'])).toMatchObject({ reached: true });
    expect(await loans()).toBe(10);
  });

  it('may rebuild what another one projects, while it goes on', async () => {
    const owner = await stage.projected([readersProjection(false), shelfProjection]);
    const done = new AbortController();
    const writer = (async () => {
      for (let loan = 0; !done.signal.aborted; loan += 5) await stage.library.record(...many(loan, 5));
    })();
    await elsewhere(async (own) => {
      const operator = new Stage(own).engine([readersProjection(false), shelfProjection]);
      await operator.rebuild('readers');
      await operator.rebuild('readers');
    });
    done.abort();
    await writer;
    await stage.level(owner);
    expect(await loans()).toBe(Number(await stage.log.head()) - 1); // All of the log but the two switches.
    expect(
      await database.query(
        `SELECT schema_name AS schema FROM mneme.projection_builds WHERE name = 'readers' AND role = 'serving'`,
      ),
    ).toEqual([{ schema: 'mneme_readers_1_3' }]);
  });

  it('an event that the owner applies while the rebuild is about to switch is in the new build too', async () => {
    await stage.library.record(...many(0, 10));
    const owner = await stage.projected([readersProjection(false)]);
    let late = 0;
    await elsewhere(async (own) => {
      const log = new OutrunLog(own, async () => {
        if (late === 5) return;
        await stage.library.record(lent(1000 + late++));
        await stage.level(owner);
      });
      await new Stage(own).engine([readersProjection(false)], { log }).rebuild('readers');
    });
    expect(await loans()).toBe(15);
  });

  it('readers never fail while builds switch, and see all views at once', async () => {
    await stage.library.record(...many(0, 200));
    const engine = await stage.projected([readersProjection(), shelfProjection]);
    const done = new AbortController();
    const read = async () => {
      let reads = 0;
      for (; !done.signal.aborted; reads++) {
        await database.asTeam(
          teams[0],
          async (queries) => {
            const [readers] = await queries.query<{ sum: bigint }>('SELECT sum(loans) AS sum FROM mneme_read.readers');
            const [shelf] = await queries.query<{ count: bigint }>('SELECT count(*) AS count FROM mneme_read.shelf');
            expect([readers?.sum, shelf?.count]).toEqual([200n, 200n]);
          },
          { snapshot: true },
        );
      }
      return reads;
    };
    const readers = [read(), read(), read()];
    for (let again = 0; again < 5; again++) {
      await engine.rebuild('readers');
      await engine.rebuild('shelf');
    }
    done.abort();
    for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(10);
  });

  it('a reader that began before a build was filled sees all its rows, because the switch waits for it', async () => {
    await stage.library.record(...many(0, 200));
    const engine = await stage.projected([readersProjection(), shelfProjection]);
    const ended: string[] = [];
    let rebuilding: Promise<unknown> = Promise.resolve();
    await database.asTeam(
      teams[0],
      async (queries) => {
        await queries.query('SELECT sum(loans) FROM mneme_read.readers');
        rebuilding = engine.rebuild('shelf').then(() => ended.push('switch'));
        await sleep(300);
        expect(await queries.query('SELECT count(*) AS count FROM mneme_read.shelf')).toEqual([{ count: 200n }]);
        ended.push('reader');
      },
      { snapshot: true },
    );
    await rebuilding;
    expect(ended).toEqual(['reader', 'switch']);
  });

  it('a batch finds rows of a middling table by key, where the planner would read all of it', async () => {
    await (await stage.projected([shelfProjection])).stop();
    await database.query(
      `INSERT INTO mneme_shelf_1_1.shelf SELECT $1::uuid, gen_random_uuid(), 'reader ' || n, now(), NULL, 0, 0 FROM generate_series(1, 20000) n`,
      [teams[0]],
    );
    const shape = shapeOf(shelf);
    const { sql, values } = selectRows(
      'mneme_shelf_1_1',
      shape,
      Array.from({ length: 500 }, (_, loan) => shape.where({ team_id: teams[0], loan_id: loanId(loan) })),
    );
    const group = await readGroup(database);
    const plans = await database.as('mneme_projector', async (queries) => {
      const before = await queries.query(`EXPLAIN ${sql}`, values);
      await advanceGroup(queries, group as GroupRow, 7n);
      return [before, await queries.query(`EXPLAIN ${sql}`, values)].map((plan) => JSON.stringify(plan));
    });
    expect(plans[0]).toContain('Seq Scan');
    expect(plans[1]).toContain('Index Scan using shelf_pkey');
    expect(plans[1]).not.toContain('Seq Scan');
  });

  it('row by row equal: what was followed and what was rebuilt elsewhere', async () => {
    await stage.library.record(...many(0, 300));
    const engine = await stage.projected([shelfProjection], { batchEvents: 13 });
    const live = await rowsOf(database, shelfProjection);
    await elsewhere((own) => new Stage(own).engine([shelfProjection]).rebuild('shelf'));
    await stage.level(engine);
    expect(await rowsOf(database, shelfProjection)).toEqual(live);
  });
});
