import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { surviveKills } from './crashes.js';
import { kills } from './kills.js';

it(`the embedded default survives ${kills} kills without losing or doubling a command`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'mneme-crash-'));
  try {
    await surviveKills({ MNEME_DATA: folder, MNEME_EMBEDDING_PROVIDER: 'shared_words' }, kills);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 1_800_000);
