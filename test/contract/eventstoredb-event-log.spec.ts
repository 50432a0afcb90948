import { EventStoreDbEventLog } from '../../src/event-log/eventstoredb/eventstoredb-event-log.js';
import { startEventStoreDb } from '../support/eventstoredb/eventstoredb.js';
import { eventLogContract } from './event-log.contract.js';

eventLogContract('EventStoreDB', async () => {
  const server = await startEventStoreDb();
  const log = new EventStoreDbEventLog({ connectionString: server.connectionString, watchdogMs: 100 });
  const close = async () => {
    await log.close();
    await server.stop();
  };
  return { log, close };
});
