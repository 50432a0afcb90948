import { randomBytes, randomUUID } from 'node:crypto';
import { freshDatabase } from '../../test/support/database.js';
import { startEventStoreDb } from '../../test/support/eventstoredb/eventstoredb.js';
import { eventCatalogue } from '../all-events.js';
import { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { Codec } from '../event-log/codec.js';
import { EventStoreDbEventLog } from '../event-log/eventstoredb/eventstoredb-event-log.js';
import { openLog } from '../event-log/log-identity.js';
import { PostgresEventLog } from '../event-log/postgres/postgres-event-log.js';
import { Streams } from '../event-log/streams.js';
import { checkEventLog, versionFinding } from './event-log.check.js';

const streamPrefix = 'mneme_';

describe('the event log', () => {
  let database: Database;
  let log: PostgresEventLog;
  let logId: string;
  beforeEach(async () => {
    database = await freshDatabase();
    log = new PostgresEventLog(database);
    const keys = new DataKeys(database, new MasterKey(randomBytes(32)));
    ({ logId } = await openLog(new Streams(log, new Codec(eventCatalogue, keys, streamPrefix))));
  });
  afterEach(async () => {
    await log.close();
    await database.close();
  });

  const check = async (now = Date.now) =>
    (await checkEventLog({ log, streamPrefix, kind: 'PostgreSQL' }, database, now)).findings;
  const bad = async (now = Date.now) =>
    (await check(now)).filter(({ severity }) => severity !== 'ok').map(({ message }) => message);
  const projected = (id: string, position: number) =>
    database.query(`INSERT INTO mneme.projection_group (log_id, position, epoch) VALUES ($1, $2, 1)`, [id, position]);

  it('is well with the checkpoints that belong to it', async () => {
    await projected(logId, 0);
    expect(await bad()).toEqual([]);
    expect((await check()).map(({ message }) => message)).toContain('the checkpoint of the projections is at 0 of this log');
  });

  it('is another one than the read models follow', async () => {
    const other = randomUUID();
    await projected(other, 0);
    expect(await bad()).toEqual([`the checkpoint of the projections is of the log ${other}, but this one is ${logId}`]);
  });

  it('was restored to an earlier moment than the read models', async () => {
    await projected(logId, 7);
    expect(await bad()).toEqual(['the checkpoint of the projections is at 7, but the log ends at 0']);
  });

  it('is empty though read models follow it', async () => {
    await projected(logId, 0);
    await database.query('TRUNCATE mneme.events');
    expect(await bad()).toContain('the checkpoint of the projections is of another log: this one is empty');
  });

  it('has events of the future where its clock was ahead', async () => {
    expect(await bad(() => Date.now() - 600_000)).toEqual([
      expect.stringMatching(/^the last event of the log is \d+\.\d s of the future$/),
    ]);
  });

  it('is told when it cannot be reached', async () => {
    const nowhere = new Database('postgres://127.0.0.1:1/none', false, 1);
    const unreachable = { log: new PostgresEventLog(nowhere), streamPrefix, kind: 'PostgreSQL' };
    const { findings } = await checkEventLog(unreachable, nowhere, Date.now);
    expect(findings).toMatchObject([{ severity: 'failed', message: 'PostgreSQL cannot be reached' }]);
    await unreachable.log.close();
    await nowhere.close();
  });

  describe('in EventStoreDB', () => {
    const examine = async (connectionString: string, now = Date.now) => {
      const remote = new EventStoreDbEventLog({ connectionString, readDeadlineMs: 2_000 });
      try {
        const server = () => remote.server();
        return (await checkEventLog({ log: remote, streamPrefix, kind: 'EventStoreDB', server }, undefined, now)).findings;
      } finally {
        await remote.close();
      }
    };

    it('says its version, where it ends, and whether its clock was ahead', async () => {
      const server = await startEventStoreDb({ now: () => new Date(Date.now() + 30_000) });
      const remote = new EventStoreDbEventLog({ connectionString: server.connectionString });
      await remote.append('mneme_x-1', [{ id: randomUUID(), type: 'X', data: '{}', metadata: '{}' }], { expected: 'no_stream' });
      await remote.close();
      const findings = await examine(server.connectionString);
      expect(findings.map(({ check, severity }) => `${check} ${severity}`)).toEqual([
        'event log ok',
        'event log ok',
        'clock warning',
      ]);
      expect(findings[0]?.message).toMatch(/^EventStoreDB has version \d+\.\d+$/);
      await server.stop();
    });

    it('that refuses the credentials, or is not there, is told without them', async () => {
      const server = await startEventStoreDb({ credentials: { username: 'mneme', password: 'right' } });
      const url = new URL(server.connectionString.replace('esdb:', 'http:'));
      const wrong = `esdb://mneme:hunter2@${url.host}${url.search}`;
      const findings = await examine(wrong);
      expect(findings).toMatchObject([{ severity: 'failed' }]);
      await server.stop();
      const gone = await examine(wrong);
      expect(gone).toMatchObject([{ severity: 'failed', message: 'EventStoreDB cannot be reached' }]);
      expect(JSON.stringify([findings, gone])).not.toContain('hunter2');
    });

    it.each([
      ['24.10.0', 'ok'],
      ['22.10.5', 'ok'],
      ['25.1.0-prerelease', 'ok'],
      ['22.6.0', 'failed'],
      ['21.10.9', 'failed'],
      ['trunk', 'warning'],
      ['', 'warning'],
    ])('of version %j', (version, severity) => expect(versionFinding('EventStoreDB', version).severity).toBe(severity));
  });
});
