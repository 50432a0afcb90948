import { freshDatabase } from '../../test/support/database.js';
import { ProcedureVectors } from '../../test/support/procedure-vectors.js';
import type { Database } from '../database/database.js';
import { checkEmbeddings, checkProjections } from './read-model.checks.js';

const team = '00000000-0000-4000-8000-00000000000a';

describe('read models, as the tables have them', () => {
  let database: Database;
  beforeEach(async () => (database = await freshDatabase()));
  afterEach(() => database.close());

  const told = async (findings: ReturnType<typeof checkProjections>) =>
    (await findings).map(({ severity, message }) => `${severity}: ${message}`);
  const projected = (position: number) =>
    database.query(`INSERT INTO mneme.projection_group (log_id, position, epoch) VALUES ('a log', $1, 1)`, [position]);

  it('are not there before the first start', async () => {
    expect(await told(checkProjections(database, 4n))).toEqual(['ok: there are none yet; the first start makes them']);
    expect(await told(checkEmbeddings(database))).toEqual([]);
  });

  it('are level with the log, or behind it', async () => {
    await projected(4);
    expect(await told(checkProjections(database, 4n))).toEqual(['ok: all of them are level with the log']);
    expect(await told(checkProjections(database, 9n))).toEqual(['warning: they stand at position 4, the log at 9']);
    expect(await told(checkProjections(database, undefined))).toEqual(['ok: all of them are level with the log']);
  });

  it('stopped at an event', async () => {
    await projected(4);
    await database.query(
      `INSERT INTO mneme.projection_builds (name, version, build, schema_name, state, position, last_error, failed_position)
       VALUES ('procedures', 1, 1, 'x', 'stopped', 2, 'TypeError at ProcedureRemembered', 3)`,
    );
    expect(await told(checkProjections(database, 4n))).toEqual([
      'failed: procedures stopped at position 3 (TypeError at ProcedureRemembered)',
    ]);
  });

  it('lack vectors that wait, and vectors that failed', async () => {
    const vectors = await ProcedureVectors.create(database);
    expect(await told(checkEmbeddings(database))).toEqual(['ok: every document has its vector']);
    for (const question of ['a', 'b', 'c']) await vectors.add(team, question);
    expect(await told(checkEmbeddings(database))).toEqual(['warning: documents that wait for a vector: 3']);
    await database.query(
      `UPDATE mneme_read.procedure_vectors SET attempts = 1, failure = 'refused: HTTP 422', retry_at = now() WHERE position = 1`,
    );
    expect(await told(checkEmbeddings(database))).toEqual([
      'warning: documents that failed and wait for a retry: 1 (refused)',
      'warning: documents that wait for a vector: 2',
    ]);
  });
});
