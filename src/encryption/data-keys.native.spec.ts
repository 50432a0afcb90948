import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../database/database.js';
import { freshDatabase } from '../../test/support/database.js';
import { DataKeys, wantedKeys } from './data-keys.js';
import { MasterKey } from './master-key.js';

describe('data keys, asked for at the same time', () => {
  let database: Database;
  let keys: DataKeys;
  const team = randomUUID();

  beforeAll(async () => {
    database = await freshDatabase();
    keys = new DataKeys(database, new MasterKey(Buffer.alloc(32, 1)));
  });
  afterAll(() => database.close());

  it('are one key for all who asked, in whatever order they named the owners', async () => {
    const owners = Array.from({ length: 40 }, () => randomUUID());
    const rings = await Promise.all(
      Array.from({ length: 8 }, (_, index) => keys.provision(team, index % 2 ? owners : owners.toReversed())),
    );
    for (const owner of owners) {
      const seen = rings.map((ring) => ring.get({ team, owner }));
      expect(seen[0]).toMatchObject({ state: 'active' });
      for (const state of seen) expect(state).toEqual(seen[0]);
    }
  });

  it('see a row that was inserted while they waited for it', async () => {
    const owner = randomUUID();
    const statement = `INSERT INTO mneme.data_keys (team_id, owner, state, erased_at) VALUES ($1, $2, 'erased', now())`;
    const { waiting } = await database.as('mneme_system', async (queries) => {
      await queries.execute(statement, [team, owner]);
      const waiting = keys.provision(team, [owner]).catch((error: unknown) => error);
      await sleep(200);
      return { waiting };
    });
    expect(await waiting).toMatchObject({ code: 'key_erased' });
  });

  it('end erased when destroying and making race', async () => {
    for (let round = 0; round < 20; round += 1) {
      const owner = randomUUID();
      await Promise.allSettled([keys.provision(team, [owner]), keys.destroy(team, owner), keys.provision(team, [owner])]);
      expect((await keys.fetch([{ team, owner }])).get({ team, owner })).toEqual({ state: 'erased' });
    }
  });
});

describe('many data keys', () => {
  let database: Database;
  beforeAll(async () => (database = await freshDatabase()));
  afterAll(() => database.close());

  it('are found by their primary key', async () => {
    await database.query(
      `INSERT INTO mneme.data_keys (team_id, owner, state, wrapped_key)
       SELECT gen_random_uuid(), 'memory-' || n, 'active', decode(repeat('00', 60), 'hex') FROM generate_series(1, 20000) n`,
    );
    await database.query('ANALYZE mneme.data_keys');
    const plan = await database.as('mneme_system', (queries) =>
      queries.query<Record<'QUERY PLAN', string>>(`EXPLAIN ${wantedKeys}`, [[randomUUID()], ['memory-1']]),
    );
    const text = plan.map((line) => line['QUERY PLAN']).join('\n');
    expect(text).toContain('data_keys_pkey');
    expect(text).not.toContain('Seq Scan');
  });
});
