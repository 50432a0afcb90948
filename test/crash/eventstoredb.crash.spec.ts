import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEventStoreDb } from '../support/eventstoredb/eventstoredb.js';
import { surviveKills } from './crashes.js';
import { kills } from './kills.js';

it(`with its events in EventStoreDB the service survives ${kills} kills without losing or doubling a command`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mneme-crash-'));
  const server = await startEventStoreDb();
  try {
    const settings = { MNEME_DATA: folder, MNEME_EMBEDDING_PROVIDER: 'shared_words', EVENTSTORE_URL: server.connectionString };
    await surviveKills(settings, kills);
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}, 1_800_000);
