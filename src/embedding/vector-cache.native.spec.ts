import { randomBytes, randomUUID } from 'node:crypto';
import { freshDatabase } from '../../test/support/database.js';
import type { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { VectorCache } from './vector-cache.js';

const team = randomUUID();

/** Erasure as it happens: the key first, the cached vectors afterwards. */
async function eraseVectors(database: Database, keys: DataKeys, memory: string): Promise<void> {
  await keys.destroy(team, memory);
  await database.as('mneme_system', (queries) =>
    queries.execute('DELETE FROM mneme.vector_cache WHERE team_id = $1 AND memory_id = $2', [team, memory]),
  );
}

describe('a memory that is erased while its vector is being cached', () => {
  let database: Database;
  let keys: DataKeys;
  let cache: VectorCache;
  beforeAll(async () => {
    database = await freshDatabase();
    keys = new DataKeys(database, new MasterKey(randomBytes(32)));
    cache = new VectorCache(database, keys, { id: 'test:1', dimensions: 1 }, []);
    await cache.hmacOf(team);
  });
  afterAll(() => database.close());

  it('leaves no vector behind, whoever is first', async () => {
    for (let attempt = 0; attempt < 100; attempt += 1) {
      const memory = randomUUID();
      await keys.provision(team, [memory]);
      await Promise.all([
        cache.keep([{ team, memoryId: memory, contentHmac: memory, vector: '[1]' }]),
        eraseVectors(database, keys, memory),
      ]);
    }
    const left = await database.as('mneme_projector', (queries) => queries.query('SELECT memory_id FROM mneme.vector_cache'));
    expect(left).toEqual([]);
  });
});
