import { randomUUID } from 'node:crypto';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { lookup, projection, put, table } from '../../projections/engine/projection.js';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import { Codec } from '../../src/event-log/codec.js';
import type { DomainEvent } from '../../src/event-log/domain-event.js';
import { EventCatalogue } from '../../src/event-log/event-catalogue.js';
import type { Append } from '../../src/event-log/event-log.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { executionStream } from '../../src/procedures/execution.js';
import { streamName } from '../../src/event-log/stream-name.js';
import { FixedKeys } from '../support/fixed-keys.js';
import { against, compared, rate, type BenchOptions, type BenchResult } from './bench.js';
import { Emmett, emmettPackages } from './emmett.js';
import { each, singleAppends } from './event-work.js';
import { PeerPackages } from './peer-packages.js';

const team = '0b5c0000-0000-4000-8000-000000000001';
const books = Array.from({ length: 1000 }, () => randomUUID());

/** Appending and catching up beside Emmett, on the same server. @throws PeersNotInstalled */
export async function peersBench(databaseUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const packages = await PeerPackages.install(emmettPackages);
  const database = new Database(databaseUrl, false, 10);
  await migrate(database);
  const log = new PostgresEventLog(database);
  const emmett = await Emmett.open(packages, databaseUrl);
  try {
    const rounds = quick ? 2 : 7;
    const appends = [await appending(log, emmett, 1, rounds), await appending(log, emmett, 8, rounds)];
    return [...appends, await catchingUp(database, log, emmett, quick ? 2_000 : 20_000)];
  } finally {
    await emmett.close();
    await log.close();
    await database.close();
    await packages.remove();
  }
}

function appending(log: PostgresEventLog, emmett: Emmett, writers: number, rounds: number): Promise<BenchResult> {
  const perWriter = writers === 1 ? 200 : 100;
  return compared({ name: `against Emmett: append, writers at once: ${writers}`, unit: 'events/s' }, rounds, () => {
    const work = Array.from({ length: writers }, () => singleAppends(perWriter));
    const send = (one: (append: Append) => Promise<unknown>) => () =>
      rate(writers * perWriter, () => Promise.all(work.map((appends) => each(appends, one))));
    return {
      ours: send(({ stream, events, expected }) => log.append(stream, events, { expected })),
      theirs: send((append) => emmett.append(append)),
    };
  });
}

type CopyLent = DomainEvent & { readonly type: 'CopyLent'; readonly book: string };
type BookRow = { team_id: string; book: string; lendings: number; position: bigint };
const lendings = table<BookRow>({
  name: 'lendings',
  columns: { team_id: 'uuid', book: 'uuid', lendings: 'int4', position: 'int8' },
  key: ['team_id', 'book'],
});

/** The same count as Emmett's, but one that counts an event once however often it is applied. */
const counting = projection<CopyLent>({
  name: 'lendings',
  version: 1,
  eventTypes: ['CopyLent'],
  needsContent: false,
  tables: [lendings],
  load: (events) => events.map(({ data }) => lookup(lendings, { team_id: team, book: data.book })),
  changes({ position, data: { book } }, rows) {
    const row = rows.get(lendings, { team_id: team, book });
    if (row && row.position >= position) return [];
    return [put(lendings, { team_id: team, book, lendings: (row?.lendings ?? 0) + 1, position })];
  },
});

async function catchingUp(database: Database, log: PostgresEventLog, emmett: Emmett, events: number): Promise<BenchResult> {
  const catalogue = new EventCatalogue([{ CopyLent: { version: 1 } }]);
  const codec = new Codec(catalogue, new FixedKeys(), 'peers_');
  const appends = await Promise.all(Array.from({ length: events }, (_, index) => lending(codec, index)));
  for (let from = 0; from < events; from += 1000) await log.appendMany(appends.slice(from, from + 1000));
  await Promise.all(
    Array.from({ length: 8 }, (_, writer) =>
      each(
        appends.filter((__, index) => index % 8 === writer),
        (append) => emmett.append(append),
      ),
    ),
  );

  const engine = new ProjectionEngine({ database, log, codec, logId: 'log-of-the-peers', projections: [counting] });
  const ours = await rate(events, async () => {
    await engine.start();
    await engine.waitFor(await log.head(), 600_000, ['lendings']);
  });
  await engine.stop();
  const theirs = await rate(events, () => emmett.count('CopyLent'));
  return against({ name: 'against Emmett: counting all events anew', unit: 'events/s' }, ours, theirs);
}

async function lending(codec: Codec, index: number): Promise<Append> {
  const commandId = randomUUID();
  const stream = streamName('peers_', executionStream(team, commandId));
  const event = { type: 'CopyLent', book: books[index % books.length] ?? '' };
  const events = await codec.encode(stream, undefined, [event], { commandId, correlationId: commandId, team });
  return { stream, events, expected: 'no_stream' };
}
