import { randomUUID } from 'node:crypto';
import { freshDatabase } from '../../test/support/database.js';
import { FaultyLog } from '../../test/support/faulty-log.js';
import type { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { PostgresEventLog } from '../event-log/postgres/postgres-event-log.js';
import { ErasureConsumer } from './erasure-consumer.js';
import { KeyDestroyer } from './key-destroyer.js';

const team = '00000000-0000-4000-8000-000000000001';
const logId = '00000000-0000-4000-8000-0000000000aa';

describe('the consumer of erasures', () => {
  let database: Database;
  let stored: PostgresEventLog;
  let log: FaultyLog;
  let keys: DataKeys;
  const running: ErasureConsumer[] = [];

  beforeEach(async () => {
    database = await freshDatabase();
    stored = new PostgresEventLog(database, { pollMs: 10 });
    log = new FaultyLog(stored);
    keys = new DataKeys(database, new MasterKey(Buffer.alloc(32, 1)));
  });
  afterEach(async () => {
    for (const consumer of running.splice(0)) await consumer.stop();
    await stored.close();
    await database.close();
  });

  const consumer = async () => {
    const made = new ErasureConsumer({
      database,
      log,
      logId,
      streamPrefix: 'mneme_',
      keyDestroyer: new KeyDestroyer(database, keys),
    });
    running.push(made);
    await made.start();
    return made;
  };
  const erase = async (memory: string, kind = 'procedure', type = 'ProcedureErased') =>
    log.append(`mneme_${kind}-${team}_${memory}`, [{ id: randomUUID(), type, data: '{}', metadata: '{}' }], {
      expected: 'no_stream',
    });
  const state = async (memory: string) => (await keys.fetch([{ team, owner: memory }])).get({ team, owner: memory }).state;
  const until = async (holds: () => boolean | Promise<boolean>, longestMs = 3_000) => {
    const deadline = performance.now() + longestMs;
    while (!(await holds()) && performance.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(await holds()).toBe(true);
  };
  const cachedVectors = async (memory: string) =>
    (await database.query(`SELECT FROM mneme.vector_cache WHERE memory_id = '${memory}'`)).length;

  it('destroys the key and the cached vectors of a memory whose erasing command was cut short', async () => {
    const memory = randomUUID();
    await keys.provision(team, [memory]);
    await database.query(`INSERT INTO mneme.vector_cache VALUES ('${team}', 'hmac', 'contract', '${memory}', '[1,2,3]')`);
    await erase(memory);
    const made = await consumer();
    await until(() => made.level);
    expect(await state(memory)).toBe('erased');
    expect(await cachedVectors(memory)).toBe(0);
  });

  it.each([
    ['evidence', 'EvidenceErased'],
    ['source', 'SourceErased'],
  ])('does so for a memory of the kind %s', async (kind, type) => {
    const memory = randomUUID();
    await keys.provision(team, [memory]);
    await database.query(`INSERT INTO mneme.vector_cache VALUES ('${team}', 'hmac', 'contract', '${memory}', '[1,2,3]')`);
    await erase(memory, kind, type);
    const made = await consumer();
    await until(() => made.level);
    expect([await state(memory), await cachedVectors(memory)]).toEqual(['erased', 0]);
  });

  it('leaves the keys of other memories alone', async () => {
    const [erased, living] = [randomUUID(), randomUUID()];
    await keys.provision(team, [erased, living]);
    await erase(erased);
    const made = await consumer();
    await until(() => made.level);
    expect(await state(living)).toBe('active');
  });

  it('is not level before it has seen what was erased before it started, as after a restore of older keys', async () => {
    const memory = randomUUID();
    await keys.provision(team, [memory]);
    await erase(randomUUID());
    const first = await consumer();
    await until(() => first.level);
    await first.stop();
    await erase(memory);
    const held = await database.query<{ position: bigint }>(
      `SELECT position FROM mneme.consumers WHERE name = 'key_destruction'`,
    );
    expect(held[0]?.position).toBeLessThan(await log.head());
    const second = await consumer();
    await until(() => second.level);
    expect(await state(memory)).toBe('erased');
  });

  it('goes on from its checkpoint, and destroys what comes while it runs', async () => {
    const made = await consumer();
    const memory = randomUUID();
    await keys.provision(team, [memory]);
    await erase(memory);
    await until(async () => (await state(memory)) === 'erased');
    await made.stop();
    const [row] = await database.query<{ position: bigint }>(
      `SELECT position FROM mneme.consumers WHERE name = 'key_destruction'`,
    );
    expect(row?.position).toBe(await log.head());
  });

  it('soon tries again when the log was lost after it had given something, however often it was lost before', async () => {
    const memories = Array.from({ length: 20 }, () => randomUUID());
    await keys.provision(team, memories);
    for (const memory of memories) await erase(memory);
    log.breakSubscriptionsAfter(1);
    const started = performance.now();
    const made = await consumer();
    await until(() => made.level, 20_000);
    // Pauses that went on growing would take more than a minute.
    expect(performance.now() - started).toBeLessThan(20_000);
    for (const memory of memories) expect(await state(memory)).toBe('erased');
  });

  describe('whose checkpoint does not fit the log', () => {
    const checkpoint = (id: string, position: bigint) =>
      database.query(`INSERT INTO mneme.consumers VALUES ('key_destruction', '${id}', ${position})`);
    const isRefused = async (message: string) => {
      const memory = randomUUID();
      await keys.provision(team, [memory]);
      await erase(memory);
      const before = await database.query('SELECT * FROM mneme.consumers');
      await expect(consumer()).rejects.toMatchObject({
        code: 'log_mismatch',
        message: expect.stringContaining(message) as string,
      });
      expect(await database.query('SELECT * FROM mneme.consumers')).toEqual(before);
      expect(await state(memory)).toBe('active');
    };

    it('does not start on another log, whose positions mean other events', async () => {
      const other = randomUUID();
      await checkpoint(other, 0n);
      await isRefused(`follows the event log ${other}, but this one is ${logId}`);
    });

    it('does not start beyond the head, because the log was restored to an earlier moment', async () => {
      await checkpoint(logId, 1n);
      await isRefused('stands at position 1, but the event log ends at 0');
    });

    it('starts at the head, and anew when its checkpoint is gone', async () => {
      await erase(randomUUID());
      await checkpoint(logId, await log.head());
      const made = await consumer();
      expect(made.level).toBe(true);
      await made.stop();
      await database.query('DELETE FROM mneme.consumers');
      const again = await consumer();
      await until(() => again.level);
    });
  });
});
