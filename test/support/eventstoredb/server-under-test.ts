import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { type EventStoreDbOptions, startEventStoreDb, type TestEventStoreDb } from './eventstoredb.js';

/** A server and a real client of it, for each test new. */
export interface ServerUnderTest {
  readonly server: TestEventStoreDb;
  readonly client: EventStoreDBClient;
  /** One more client, which ends with the test. */
  connect(connectionString?: string): EventStoreDBClient;
}

/** Registers what starts and stops them. */
export function serverUnderTest(options: EventStoreDbOptions = {}): ServerUnderTest {
  let server: TestEventStoreDb | undefined;
  let clients: EventStoreDBClient[] = [];
  const current = (): TestEventStoreDb => {
    if (!server) throw new Error('only within a test');
    return server;
  };
  const connect = (connectionString = current().connectionString): EventStoreDBClient => {
    const client = EventStoreDBClient.connectionString(connectionString);
    clients.push(client);
    return client;
  };
  beforeEach(async () => {
    server = await startEventStoreDb(options);
    connect();
  });
  afterEach(async () => {
    const ending = clients.map((client) => client.dispose());
    clients = [];
    await server?.stop();
    // The client waits for ever for the end of a batch stream that the server has ended with no error.
    await within(200, Promise.all(ending));
  });
  return {
    get server() {
      return current();
    },
    get client() {
      return clients[0] ?? connect();
    },
    connect,
  };
}

export const newEvent = (data = { book: 'moby-dick' }) =>
  jsonEvent({ type: 'BookLent', data, metadata: { $correlationId: 'c-1' } });

export const newEvents = (count: number) => Array.from({ length: count }, () => newEvent());

export async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}

/** What a promise gave within so many milliseconds, or `pending`. */
export async function within(ms: number, promise: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const pending = new Promise((resolve) => (timer = setTimeout(resolve, ms, 'pending')));
  const outcome = await Promise.race([promise.catch((error: unknown) => error), pending]);
  clearTimeout(timer);
  return outcome;
}

/** Tries again until it succeeds; for what fails until the client has noticed a lost connection. @throws after 5 s */
export async function eventually<T>(attempt: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 5_000;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}
