import { EventStoreDBClient, streamNameFilter, type EventData } from '@eventstore/db-client';

/** What an append needs, in texts of JSON. */
export interface BareAppend {
  readonly stream: string;
  readonly events: readonly { readonly id: string; readonly type: string; readonly data: string; readonly metadata: string }[];
  readonly expected: bigint | 'no_stream';
}

/** The client as it comes, to compare with. */
export class BareClient {
  private readonly client: EventStoreDBClient;

  constructor(connectionString: string) {
    this.client = EventStoreDBClient.connectionString(connectionString);
  }

  async append({ stream, events, expected }: BareAppend): Promise<void> {
    const sent = events.map(
      ({ id, type, data, metadata }) =>
        ({
          id,
          type,
          contentType: 'application/json',
          data: JSON.parse(data) as object,
          metadata: JSON.parse(metadata) as object,
        }) as EventData,
    );
    await this.client.appendToStream(stream, sent, { expectedRevision: expected });
  }

  /** Takes so many events off a subscription from the beginning on. */
  async follow(prefix: string, count: number): Promise<void> {
    const subscription = this.client.subscribeToAll({ filter: streamNameFilter({ prefixes: [prefix], maxSearchWindow: 500 }) });
    let taken = 0;
    for await (const { event } of subscription) {
      if (event) taken++;
      if (taken === count) break;
    }
    await subscription.unsubscribe();
  }

  close(): Promise<void> {
    return this.client.dispose();
  }
}
