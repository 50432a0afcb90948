import { createServer, type AddressInfo, type Server } from 'node:net';
import { freshDatabase } from '../../test/support/database.js';
import { Database } from '../database/database.js';
import { checkDatabase, migrationFinding, rightsFinding, serverFinding, type Rights } from './database.check.js';

const vector = { installed: '0.8.1', available: '0.8.1' };
const rights: Rights = { create: true, createRole: true, missingRoles: [], foreignRoles: [], bypassing: [] };

describe('a PostgreSQL server', () => {
  it.each([
    ['of our versions', { number: 170_004, version: '17.4', vector }, 'ok'],
    ['that is too old', { number: 140_009, version: '14.9', vector }, 'failed'],
    ['that nobody has tried', { number: 190_001, version: '19.1', vector }, 'warning'],
    ['without pgvector', { number: 170_004, version: '17.4', vector: undefined }, 'failed'],
    ['with an old pgvector', { number: 170_004, version: '17.4', vector: { installed: '0.7.4', available: '0.8.1' } }, 'failed'],
    ['that could install pgvector', { number: 170_004, version: '17.4', vector: { installed: null, available: '0.8.0' } }, 'ok'],
  ] as const)('%s', (_, facts, severity) => {
    const finding = serverFinding(facts);
    expect(finding.severity).toBe(severity);
    expect(finding.advice === null).toBe(severity === 'ok');
  });

  it.each<[string, Partial<Rights>, string]>([
    ['all it needs', {}, 'ok'],
    ['no right to make schemas', { create: false }, 'failed'],
    ['no right to make the roles that are missing', { createRole: false, missingRoles: ['mneme_app'] }, 'failed'],
    ['roles to make', { missingRoles: ['mneme_app'] }, 'ok'],
    ['no need to make roles', { createRole: false }, 'ok'],
    ['roles of another installation', { foreignRoles: ['mneme_system'] }, 'failed'],
    ['roles that see every team', { bypassing: ['mneme_app'] }, 'failed'],
  ])('whose user has %s', (_, some, severity) => expect(rightsFinding({ ...rights, ...some }).severity).toBe(severity));

  it.each([
    ['none', undefined, 'ok', false],
    ['all', ['0001_a', '0002_b'], 'ok', true],
    ['some', ['0001_a'], 'warning', false],
    ['more than we know', ['0001_a', '0002_b', '0003_c'], 'failed', false],
  ] as const)('on which of our migrations %s have run', (_, applied, severity, level) => {
    const found = migrationFinding(applied, ['0001_a', '0002_b']);
    expect([found.finding.severity, found.level]).toEqual([severity, level]);
  });
});

describe('the database', () => {
  it('is well when it is ours', async () => {
    const database = await freshDatabase();
    const { findings, usable } = await checkDatabase(database, Date.now);
    expect(findings.filter(({ severity }) => severity === 'failed')).toEqual([]);
    expect(findings.map(({ check }) => check)).toEqual(['database', 'database', 'database', 'clock']);
    expect(usable).toBe(true);
    await database.close();
  });

  it('has another time than we have, by the clock that is given', async () => {
    const database = await freshDatabase();
    const { findings } = await checkDatabase(database, () => Date.now() - 3_600_000);
    expect(findings.at(-1)).toMatchObject({ check: 'clock', severity: 'failed' });
    expect(findings.at(-1)?.message).toMatch(/^the clock of the database is 3\d{3}\.\d s ahead of this one$/);
    await database.close();
  });

  it('lacks a migration that was taken back, and has one that we do not know', async () => {
    const database = await freshDatabase();
    await database.query(`DELETE FROM mneme.migrations WHERE name = '0008_commands'`);
    expect((await checkDatabase(database, Date.now)).usable).toBe(false);
    await database.query(`INSERT INTO mneme.migrations (name, run_on) VALUES ('9999_of_tomorrow', now())`);
    expect((await checkDatabase(database, Date.now)).findings[2]).toMatchObject({
      severity: 'failed',
      message: 'it was migrated by a newer Mneme (9999_of_tomorrow)',
    });
    await database.close();
  });

  describe('that refuses us', () => {
    let server: Server;
    afterEach(() => server.close());

    /** Speaks as much of PostgreSQL's protocol as it takes to refuse a connection. */
    async function refusing(state: string): Promise<Database> {
      server = createServer((socket) =>
        socket.once('data', () => {
          const fields = `SFATAL\0C${state}\0Mpassword hunter2 is wrong\0\0`;
          const message = Buffer.alloc(5 + fields.length);
          message.write('E');
          message.writeInt32BE(4 + fields.length, 1);
          message.write(fields, 5);
          socket.end(message);
        }),
      ).listen(0, '127.0.0.1');
      await new Promise((resolve) => server.once('listening', resolve));
      const { port } = server.address() as AddressInfo;
      return new Database(`postgres://mneme:hunter2@127.0.0.1:${port}/mneme`, false, 1);
    }

    it.each([
      ['28P01', 'the server refuses the user or the password (SQLSTATE 28P01)'],
      ['28000', 'the server refuses the user or the password (SQLSTATE 28000)'],
      ['3D000', 'the database does not exist (SQLSTATE 3D000)'],
      ['53300', 'the server takes no more connections (SQLSTATE 53300)'],
      ['57P03', 'a statement failed (SQLSTATE 57P03)'],
    ])('with %s is told without its words and without the password', async (state, message) => {
      const database = await refusing(state);
      const { findings, usable } = await checkDatabase(database, Date.now);
      expect([usable, findings.map(({ severity }) => severity), findings[0]?.message]).toEqual([false, ['failed'], message]);
      expect(JSON.stringify(findings)).not.toContain('hunter2');
      await database.close();
    });

    it('because it is not there', async () => {
      const gone = await refusing('28P01');
      await new Promise((resolve) => server.close(resolve));
      expect((await checkDatabase(gone, Date.now)).findings).toMatchObject([
        { severity: 'failed', message: 'the server cannot be reached' },
      ]);
      await gone.close();
    });
  });
});
