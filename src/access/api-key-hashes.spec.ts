import { randomBytes, randomUUID } from 'node:crypto';
import { newTeam, startTestService, type TestService, type TestTeam } from '../../test/support/service.js';
import { usableKey } from './api-key-hashes.js';

interface Plan {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: Plan[];
}

describe('authentication', () => {
  let service: TestService;
  let team: TestTeam;
  const database = () => service.infrastructure.database;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    await addKeys(5_000);
  });
  afterAll(() => service.stop());

  /** Keys and profiles of many teams, straight into the tables: issuing them one by one would take minutes. */
  async function addKeys(count: number): Promise<void> {
    const [build] = await database().query<{ schema: string }>(
      `SELECT schema_name AS schema FROM mneme.projection_builds WHERE name = 'access' AND role = 'serving'`,
    );
    const schema = build?.schema ?? '';
    const teams = Array.from({ length: count }, () => randomUUID());
    const ids = Array.from({ length: count }, () => randomUUID());
    await database().as('mneme_projector', async (queries) => {
      await queries.execute(
        `INSERT INTO ${schema}.api_keys
           (team_id, key_id, profile_id, name, scopes, expires_at, revoked, created_at, created_position, revision)
         SELECT team, id, id, NULL, 'memory:read', NULL, false, now(), 1000 + number, 1
         FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS made(team, id, number)`,
        [teams, ids],
      );
      await queries.execute(
        `INSERT INTO ${schema}.profiles (team_id, profile_id, name, status, created_at, created_position, revision)
         SELECT team, id, NULL, 'active', now(), 1000 + number, 1
         FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS made(team, id, number)`,
        [teams, ids],
      );
    });
    await database().as('mneme_system', (queries) =>
      queries.execute(
        `INSERT INTO mneme.api_key_hashes (team_id, key_id, key_hash) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[])`,
        [teams, ids, ids.map(() => randomBytes(32))],
      ),
    );
    for (const name of [`${schema}.api_keys`, `${schema}.profiles`, 'mneme.api_key_hashes'])
      await database().query(`ANALYZE ${name}`);
  }

  const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

  it('finds a key by three index lookups, however many keys there are', async () => {
    const [row] = await database().as('mneme_system', (queries) =>
      queries.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(`EXPLAIN (FORMAT JSON) ${usableKey}`, [randomBytes(32), new Date()]),
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    if (!plan) throw new Error('no plan');
    const scans = nodes(plan).filter((node) => node['Node Type'].includes('Scan'));
    expect(scans.map((node) => node['Node Type'])).not.toContain('Seq Scan');
    expect(scans.filter((node) => node['Index Name'] !== undefined)).toHaveLength(3);
  });

  it('lists the keys of a team in index order, without a sort', async () => {
    const [row] = await database().asTeam(team.id, (queries) =>
      queries.query<{ 'QUERY PLAN': { Plan: Plan }[] }>(
        `EXPLAIN (FORMAT JSON) SELECT key_id FROM mneme_read.api_keys
         WHERE team_id = $1 AND created_position > $2 ORDER BY created_position LIMIT 50`,
        [team.id, 0n],
      ),
    );
    const plan = row?.['QUERY PLAN'][0]?.Plan;
    if (!plan) throw new Error('no plan');
    const types = nodes(plan).map((node) => node['Node Type']);
    expect(types).not.toContain('Sort');
    expect(types).not.toContain('Seq Scan');
  });
});
