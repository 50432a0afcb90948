import type { Append } from '../../src/event-log/event-log.js';
import type { PeerPackages } from './peer-packages.js';

/** Exact, because what is compared must be the same tomorrow. */
export const emmettPackages = ['@event-driven-io/emmett-postgresql@0.42.0', '@event-driven-io/emmett@0.42.0'];

/** What we use of its interface; its types are not here when this is compiled. */
interface EmmettModule {
  getPostgreSQLEventStore(connectionString: string): EmmettStore;
  postgreSQLRawSQLProjection(definition: object): object;
}

interface EmmettStore {
  readonly schema: { migrate(): Promise<unknown> };
  appendToStream(
    stream: string,
    events: readonly object[],
    options: { expectedStreamVersion: bigint | string },
  ): Promise<unknown>;
  consumer(options: object): {
    projector(options: object): unknown;
    start(): Promise<unknown>;
    close(): Promise<unknown>;
  };
  close(): Promise<void>;
}

type SqlTag = (parts: TemplateStringsArray, ...values: readonly unknown[]) => object;

/** Messages that its consumer reads at once; ten times its default, at which it is slower. */
const batchSize = 1000;

/** Emmett's event store in PostgreSQL, used as its documentation shows. */
export class Emmett {
  private constructor(
    private readonly module: EmmettModule,
    private readonly sql: SqlTag,
    private readonly store: EmmettStore,
  ) {}

  static async open(packages: PeerPackages, databaseUrl: string): Promise<Emmett> {
    const module = (await packages.load('@event-driven-io/emmett-postgresql')) as EmmettModule;
    const { SQL } = (await packages.load('@event-driven-io/dumbo')) as { SQL: SqlTag };
    const store = module.getPostgreSQLEventStore(databaseUrl);
    await store.schema.migrate();
    return new Emmett(module, SQL, store);
  }

  async append({ stream, events, expected }: Append): Promise<void> {
    const sent = events.map(({ type, data, metadata }) => ({
      type,
      data: JSON.parse(data) as unknown,
      metadata: JSON.parse(metadata) as unknown,
    }));
    const expectedStreamVersion = expected === 'no_stream' ? 'STREAM_DOES_NOT_EXIST' : expected + 1n;
    await this.store.appendToStream(stream, sent, { expectedStreamVersion });
  }

  /** Counts all events of a type by their `book`, one row a book, from the first event to the last. */
  async count(type: string): Promise<void> {
    const { sql } = this;
    const projection = this.module.postgreSQLRawSQLProjection({
      name: 'books',
      canHandle: [type],
      init: () => sql`CREATE TABLE IF NOT EXISTS emmett_books (book uuid PRIMARY KEY, lendings int NOT NULL)`,
      evolve: ({ data }: { data: { book: string } }) =>
        sql`INSERT INTO emmett_books VALUES (${data.book}, 1) ON CONFLICT (book) DO UPDATE SET lendings = emmett_books.lendings + 1`,
    });
    const consumer = this.store.consumer({ stopWhen: { noMessagesLeft: true }, pulling: { batchSize } });
    consumer.projector({ processorId: 'books', projection, startFrom: 'BEGINNING' });
    await consumer.start();
    await consumer.close();
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}
