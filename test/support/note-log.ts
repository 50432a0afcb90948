import type { Database } from '../../src/database/database.js';
import { DataKeys } from '../../src/encryption/data-keys.js';
import { MasterKey } from '../../src/encryption/master-key.js';
import { Codec } from '../../src/event-log/codec.js';
import { EventCatalogue } from '../../src/event-log/event-catalogue.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { logEvents } from '../../src/event-log/log-identity.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { Streams } from '../../src/event-log/streams.js';
import { freshDatabase } from './database.js';
import { FaultyLog } from './faulty-log.js';
import { noteEvents, noteStreamName, prefix } from './notes.js';

/** Notes in a real log with real keys, all in one empty database. */
export interface NoteLog {
  readonly database: Database;
  readonly keys: DataKeys;
  readonly log: FaultyLog;
  readonly streams: Streams;
  /** The stored events of a note's stream. */
  stored(id: string): Promise<StoredEvent[]>;
  /** The stored events of all streams, in order. */
  all(): Promise<StoredEvent[]>;
  close(): Promise<void>;
}

export async function openNoteLog(): Promise<NoteLog> {
  const database = await freshDatabase();
  const postgres = new PostgresEventLog(database);
  const log = new FaultyLog(postgres);
  const keys = new DataKeys(database, new MasterKey(Buffer.alloc(32, 1)));
  const streams = new Streams(log, new Codec(new EventCatalogue([noteEvents, logEvents]), keys, prefix));
  return {
    database,
    keys,
    log,
    streams,
    stored: (id) => collect(log.readStream(noteStreamName(id))),
    all: () => collect(log.readAll({ after: -1n, prefix })),
    close: async () => {
      await postgres.close();
      await database.close();
    },
  };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
