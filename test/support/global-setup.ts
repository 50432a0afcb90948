import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../src/database/embedded/embedded-postgres.js';

declare global {
  var embeddedPostgres: EmbeddedPostgres | undefined;
}

/** One embedded PostgreSQL, in memory, for the whole run; `MNEME_TEST_DATABASE_URL` names a server to use instead. */
// eslint-disable-next-line no-restricted-syntax -- Jest asks for a default export
export default async function globalSetup(): Promise<void> {
  if (process.env.MNEME_TEST_DATABASE_URL) return;
  globalThis.embeddedPostgres = await startEmbeddedPostgres(undefined);
  process.env.MNEME_TEST_EMBEDDED_URL = globalThis.embeddedPostgres.url;
}
