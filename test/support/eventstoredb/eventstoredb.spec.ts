import { EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client';
import { startEventStoreDb, type TestEventStoreDb } from './eventstoredb.js';

const newEvent = (data = { book: 'moby-dick' }) => jsonEvent({ type: 'BookLent', data, metadata: { by: 'ada' } });

async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}

describe('a test EventStoreDB', () => {
  let server: TestEventStoreDb;
  let client: EventStoreDBClient;

  beforeEach(async () => {
    server = await startEventStoreDb();
    client = EventStoreDBClient.connectionString(server.connectionString);
  });
  afterEach(async () => {
    await client.dispose();
    await server.stop();
  });

  it('appends and reads', async () => {
    const events = [newEvent(), newEvent()];
    const result = await client.appendToStream('loan-1', events, { expectedRevision: 'no_stream' });
    expect(result).toMatchObject({ success: true, nextExpectedRevision: 1n });
    expect(server.requests.all.map(({ operation }) => operation)).toEqual(['server_features', 'batch_append']);
    const read = await all(client.readStream('loan-1'));
    expect(read.map(({ event }) => event?.id)).toEqual(events.map(({ id }) => id));
    expect(read[1]?.event?.position).toEqual(result.position);
    expect((await all(client.readAll())).length).toBe(5);
  });

  it('subscribes', async () => {
    const subscription = client.subscribeToAll({ filter: streamNameFilter({ prefixes: ['loan-'] }) });
    await client.appendToStream('loan-1', [newEvent(), newEvent()]);
    const seen: bigint[] = [];
    for await (const { event } of subscription) {
      seen.push(event?.revision ?? -1n);
      if (seen.length === 2) break;
    }
    expect(seen).toEqual([0n, 1n]);
  });
});
