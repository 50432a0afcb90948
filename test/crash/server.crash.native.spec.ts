import { freshDatabase, testDatabaseUrl } from '../support/database.js';
import { surviveKills } from './crashes.js';
import { kills } from './kills.js';

it(`on a PostgreSQL server the service survives ${kills} kills without losing or doubling a command`, async () => {
  await (await freshDatabase()).close();
  const settings = {
    DATABASE_URL: testDatabaseUrl().url,
    MNEME_MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
    MNEME_EMBEDDING_PROVIDER: 'shared_words',
    MNEME_PROJECTION_LEASE_MS: '1000',
  };
  await surviveKills(settings, kills);
}, 1_800_000);
