import { randomBytes } from 'node:crypto';
import { startEventStoreDb, type TestEventStoreDb } from './eventstoredb/eventstoredb.js';

let server: TestEventStoreDb | undefined;

/**
 * Where the service of a test keeps its events: in PostgreSQL, or, with `MNEME_TEST_EVENT_LOG=eventstoredb`, in the server
 * of `EVENTSTORE_URL`, else in one inside this process. Streams get a prefix of the test's own, so that a server may be
 * shared and nothing on it needs to be removed.
 */
export async function eventLogSettings(): Promise<Record<string, string>> {
  if (process.env.MNEME_TEST_EVENT_LOG !== 'eventstoredb') return {};
  const url = process.env.EVENTSTORE_URL ?? (server ??= await startEventStoreDb()).connectionString;
  return { EVENTSTORE_URL: url, MNEME_STREAM_PREFIX: `t${randomBytes(6).toString('hex')}_` };
}

/** For the end of a test file: a server inside this process would keep the run alive. */
export async function stopEventLogOfThisRun(): Promise<void> {
  await server?.stop();
  server = undefined;
}
