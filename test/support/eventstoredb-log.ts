import {
  EventStoreDbEventLog,
  type EventStoreDbEventLogOptions,
} from '../../src/event-log/eventstoredb/eventstoredb-event-log.js';
import { startEventStoreDb, type EventStoreDbOptions, type TestEventStoreDb } from './eventstoredb/eventstoredb.js';

export type LogOptions = Partial<EventStoreDbEventLogOptions>;

/** A server of its own for every test, and the logs on it. */
export class EventStoreDbForTests {
  private running: TestEventStoreDb | undefined;
  private readonly logs: EventStoreDbEventLog[] = [];

  get server(): TestEventStoreDb {
    if (!this.running) throw new Error('start a server first');
    return this.running;
  }

  async start(options: EventStoreDbOptions = {}): Promise<TestEventStoreDb> {
    this.running = await startEventStoreDb(options);
    return this.running;
  }

  /** Impatient, unless told otherwise: faults are noticed in tenths of a second. */
  open(options: LogOptions = {}): EventStoreDbEventLog {
    const log = new EventStoreDbEventLog({ connectionString: this.server.connectionString, watchdogMs: 100, ...options });
    this.logs.push(log);
    return log;
  }

  async stop(): Promise<void> {
    for (const log of this.logs.splice(0)) await log.close();
    await this.running?.stop();
    this.running = undefined;
  }
}

/** What a promise is rejected with. @throws when it is not */
export async function failureOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it did not fail');
}
