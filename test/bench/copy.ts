import type pg from 'pg';

/** The part of the driver's connection that speaks COPY; its types leave it out. */
interface CopyConnection {
  query(sql: string): void;
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
}

/** One statement in the driver's queue: it calls these as the server answers. */
class Copy {
  readonly received: Buffer[] = [];
  readonly done: Promise<void>;
  private resolve: () => void = () => undefined;
  private reject: (error: Error) => void = () => undefined;

  constructor(
    private readonly sql: string,
    private readonly toSend: readonly Buffer[] = [],
  ) {
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  submit(connection: CopyConnection): void {
    connection.query(this.sql);
  }

  handleCopyInResponse(connection: CopyConnection): void {
    for (const chunk of this.toSend) connection.sendCopyFromChunk(chunk);
    connection.endCopyFrom();
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    this.received.push(Buffer.from(chunk));
  }

  handleError(error: Error): void {
    this.reject(error);
  }

  handleReadyForQuery(): void {
    this.resolve();
  }

  handleCommandComplete(): void {
    // the next message says that it is ready
  }
}

/** What COPY (query) TO STDOUT gives, in chunks of a row each. */
export async function copyOut(client: pg.Client, query: string): Promise<Buffer[]> {
  const copy = new Copy(`COPY (${query}) TO STDOUT`);
  client.query(copy as unknown as pg.Submittable);
  await copy.done;
  return copy.received;
}

/** Rows as `copyOut` gives them, into a table. */
export async function copyIn(client: pg.Client, table: string, rows: readonly Buffer[]): Promise<void> {
  const copy = new Copy(`COPY ${table} FROM STDIN`, rows);
  client.query(copy as unknown as pg.Submittable);
  await copy.done;
}

const chunkBytes = 64 * 1024;

/** As a client sends them that wants to be quick: a row a message would measure the messages. */
export function inChunks(rows: readonly Buffer[]): Buffer[] {
  const chunks: Buffer[] = [];
  let pending: Buffer[] = [];
  let bytes = 0;
  for (const row of rows) {
    pending.push(row);
    bytes += row.length;
    if (bytes < chunkBytes) continue;
    chunks.push(Buffer.concat(pending));
    pending = [];
    bytes = 0;
  }
  if (pending.length > 0) chunks.push(Buffer.concat(pending));
  return chunks;
}
