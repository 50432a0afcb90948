import type { Database } from '../../src/database/database.js';
import { defaultSettings } from '../../src/access/settings.js';
import { freshDatabase } from '../../test/support/database.js';
import { settingsOfTeam, teamsAfter } from './access.queries.js';

const team = '11111111-1111-4111-8111-111111111111';

describe('a build of the teams that is older than a setting', () => {
  let database: Database;
  beforeAll(async () => {
    database = await freshDatabase();
    await database.query(
      `CREATE VIEW mneme_read.teams AS SELECT '${team}'::uuid AS team_id, 'Support' AS name, true AS review, 'german' AS language,
         false AS recording, now() AS created_at, 3::int8 AS created_position, 0::int8 AS revision`,
    );
    await database.query('GRANT SELECT ON mneme_read.teams TO mneme_app, mneme_system');
  });
  afterAll(() => database.close());

  it('serves while the new one is built, with the default of the setting', async () => {
    const settings = { ...defaultSettings, review: true, language: 'german' };
    expect(await database.asTeam(team, (queries) => settingsOfTeam(queries, team))).toEqual(settings);
    const rows = await database.as('mneme_system', (queries) => teamsAfter(queries, undefined, { after: undefined, limit: 5 }));
    expect(rows).toMatchObject([{ team_id: team, name: 'Support', ...settings, created_position: 3n }]);
  });
});
