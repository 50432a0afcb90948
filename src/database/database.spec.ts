import { freshDatabase } from '../../test/support/database.js';
import { Database } from './database.js';

describe('the database', () => {
  let database: Database;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());

  it('runs a transaction under the role it is asked for, and only that transaction', async () => {
    const team = '00000000-0000-4000-8000-000000000001';
    const [inside] = await database.asTeam(team, (queries) =>
      queries.query<{ role: string; team: string }>(`SELECT current_user AS role, current_setting('mneme.team_id') AS team`),
    );
    expect(inside).toEqual({ role: 'mneme_app', team });
    const [outside] = await database.query<{ role: string; team: string | null }>(
      `SELECT current_user AS role, nullif(current_setting('mneme.team_id', true), '') AS team`,
    );
    expect(outside?.role).not.toBe('mneme_app');
    expect(outside?.team).toBeNull();
  });

  it('reads int8 as bigint', async () => {
    expect(await database.query(`SELECT 9007199254740993::int8 AS large`)).toEqual([{ large: 9007199254740993n }]);
  });

  it('rolls back when the work throws, and stays usable', async () => {
    await expect(
      database.asOwner(async (queries) => {
        await queries.execute('CREATE TABLE mneme.left_over (id int)');
        throw new Error('changed my mind');
      }),
    ).rejects.toThrow('changed my mind');
    expect(await database.query(`SELECT to_regclass('mneme.left_over') AS found`)).toEqual([{ found: null }]);
  });

  it('hides the server’s own words, which may quote rows', async () => {
    const failing = database.query(`SELECT 'secret'::int`);
    await expect(failing).rejects.toMatchObject({ code: 'database_failure', sqlState: '22P02', message: 'SQLSTATE 22P02' });
  });

  it('refuses a team that is not a UUID, because the id becomes part of the statement', () => {
    expect(() => database.asTeam(`x'; DROP TABLE a; --`, () => Promise.resolve())).toThrow(TypeError);
  });
});

describe('a database that is not there', () => {
  it('is unavailable, and says no more than that', async () => {
    const nowhere = new Database('postgres://user:secret@127.0.0.1:1/none', false, 2);
    await expect(nowhere.query('SELECT 1')).rejects.toMatchObject({
      code: 'database_unavailable',
      message: 'the database is unavailable',
    });
    await expect(nowhere.as('mneme_system', () => Promise.resolve())).rejects.toMatchObject({ code: 'database_unavailable' });
    await nowhere.close();
  });
});
