import { freshDatabase } from '../../../test/support/database.js';
import { readConfiguration } from '../../config/configuration.js';
import type { Database } from '../../database/database.js';
import { JsonLogger } from '../json-logger.js';
import { CommandTable } from './command-table.js';
import { ReceiptPruner } from './receipt-pruner.js';

describe('receipts of commands', () => {
  let database: Database;
  beforeAll(async () => (database = await freshDatabase()));
  beforeEach(() => database.query('DELETE FROM mneme.commands'));
  afterAll(() => database.close());

  const prunerWith = (environment: Record<string, string> = {}) =>
    new ReceiptPruner(new CommandTable(database), readConfiguration(environment), new JsonLogger('silent'));
  const given = (count: number, age: string) =>
    database.query(
      `INSERT INTO mneme.commands (team_id, command_id, fingerprint, status, receipt, position, revision, created_at)
       SELECT gen_random_uuid(), gen_random_uuid(), 'f', 200, '{}', 1, 0, now() - $2::interval FROM generate_series(1, $1)`,
      [count, age],
    );
  const left = async () => (await database.query('SELECT 1 FROM mneme.commands')).length;

  it('are pruned after seven days, however many there are', async () => {
    await given(2_100, '7 days 1 minute');
    await given(3, '6 days 23 hours');
    expect(await prunerWith().prune()).toBe(2_100);
    expect(await left()).toBe(3);
  });

  it('are pruned after as many days as configured, once the service has started, and not after it has stopped', async () => {
    await given(2, '2 days 1 minute');
    await given(1, '1 day');
    const pruner = prunerWith({ MNEME_RECEIPT_RETENTION_DAYS: '2' });
    pruner.onApplicationBootstrap();
    await pruner.onApplicationShutdown();
    await given(1, '3 days');
    expect(await left()).toBe(2);
  });

  it('are kept for ever with a retention of 0', async () => {
    await given(1, '30 years');
    const pruner = prunerWith({ MNEME_RECEIPT_RETENTION_DAYS: '0' });
    pruner.onApplicationBootstrap();
    await pruner.onApplicationShutdown();
    expect(await left()).toBe(1);
  });
});
