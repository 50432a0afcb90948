import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.js';
import { startEventStoreDb } from '../support/eventstoredb/eventstoredb.js';
import { eventLogContract } from './event-log.contract.js';

/** The server of `EVENTSTORE_URL`, where the suite uses streams of its own and removes nothing, else one of the test's own. */
eventLogContract('EventStoreDB', async () => {
  const server = process.env.EVENTSTORE_URL === undefined ? await startEventStoreDb() : undefined;
  const connectionString = process.env.EVENTSTORE_URL ?? server?.connectionString ?? '';
  const log = new EventStoreDbEventLog({ connectionString, ...(server ? { watchdogMs: 100 } : {}) });
  const close = async () => {
    await log.close();
    await server?.stop();
  };
  return { log, close };
});
