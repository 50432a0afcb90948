import type { Database } from '../../database/database.js';
import { WrongExpectedRevision } from '../errors.js';
import type { Append, AppendOutcome, ExpectedRevision, StoredEvent } from '../event-log.js';

/** How much one query reads: events, and about how many bytes of them. */
export interface PageSize {
  readonly events: number;
  readonly bytes: number;
}

export interface LogPage {
  readonly events: StoredEvent[];
  /** Everything up to here has been read, though the last events may not have had the prefix. */
  readonly seen: bigint;
  /** Position of the last event of the log, in the same moment; -1 when it is empty. */
  readonly head: bigint;
}

export interface StreamPage {
  readonly events: StoredEvent[];
  readonly more: boolean;
}

const noStream = -1n;

const appendSql = `SELECT * FROM mneme.append_events($1, $2, $3, $4, $5, $6, $7, $8)`;

interface AppendRow {
  request: number;
  stands: boolean;
  last_revision: bigint;
  last_position: bigint | null;
}

/** Appends a batch in one round trip; outcomes in the order given. @throws DatabaseUnavailable, DatabaseFailure for the batch as a whole */
export async function appendEvents(database: Database, appends: readonly Append[]): Promise<AppendOutcome[]> {
  const events = appends.flatMap((append, index) =>
    append.events.map((event, place) => ({ ...event, request: index + 1, place: place + 1 })),
  );
  const rows = await database.query<AppendRow>(appendSql, [
    appends.map(({ stream }) => stream),
    appends.map(({ expected }) => (expected === 'no_stream' ? noStream : expected)),
    events.map(({ request }) => request),
    events.map(({ place }) => place),
    events.map(({ id }) => id),
    events.map(({ type }) => type),
    events.map(({ data }) => data),
    events.map(({ metadata }) => metadata),
  ]);
  const byRequest = new Map(rows.map((row) => [row.request, row]));
  return appends.map((append, index) => outcome(append, byRequest.get(index + 1)));
}

function outcome({ stream, expected }: Append, row: AppendRow | undefined): AppendOutcome {
  if (!row) throw new Error('append_events returned no row for a request');
  const { stands, last_revision: revision, last_position: position } = row;
  if (stands && position !== null) return { appended: { revision, position } };
  const actual: ExpectedRevision = revision === noStream ? 'no_stream' : revision;
  return { error: new WrongExpectedRevision(stream, expected, actual) };
}

// The sum of bytes up to each row cuts a page of large events short: 500 of the largest would take 256 MB. Lengths are
// stored beside the texts, so counting them reads none.
const columns = `position, stream, revision, event_id, type, data, metadata, recorded_at, bytes::int4`;
const eventBytes = `(octet_length(data) + octet_length(metadata))`;

/** $1 stream, $2 first revision, $3 events, $4 bytes. */
export const streamPageSql = `
  SELECT ${columns}
  FROM (
    SELECT *, sum(${eventBytes}) OVER (ORDER BY revision) AS bytes
    FROM (SELECT * FROM mneme.events WHERE stream = $1 AND revision >= $2 ORDER BY revision LIMIT $3) page
  ) counted
  WHERE bytes - ${eventBytes} < $4
  ORDER BY revision`;

/** @throws DatabaseUnavailable, DatabaseFailure */
export async function streamPage(database: Database, stream: string, from: bigint, size: PageSize): Promise<StreamPage> {
  const rows = await database.query<EventRow>(streamPageSql, [stream, from, size.events, size.bytes]);
  return { events: rows.map(storedEvent), more: rows.length === size.events || isCut(rows, size) };
}

// Positions have no gaps, so a window of positions is a page, whatever share of it has the prefix; a LIMIT on what has the
// prefix would scan all of a log in which nothing has it. One statement, so that the head is that of the page's moment.
/** $1 after, $2 last position of the window, $3 prefix, $4 bytes. One row with a null position when no event qualifies. */
export const logPageSql = `
  SELECT head, ${columns}
  FROM (SELECT coalesce(max(position), -1) AS head FROM mneme.events) log
  LEFT JOIN LATERAL (
    SELECT *, sum(${eventBytes}) OVER (ORDER BY position) AS bytes
    FROM mneme.events
    WHERE position > $1 AND position <= $2 AND starts_with(stream, $3)
  ) counted ON bytes - ${eventBytes} < $4
  ORDER BY position`;

/** The events after `after` up to `until` that the first window holds. @throws DatabaseUnavailable, DatabaseFailure */
export async function logPage(
  database: Database,
  range: { after: bigint; until: bigint | undefined; prefix: string },
  size: PageSize,
): Promise<LogPage> {
  const { after, until, prefix } = range;
  const window = after + BigInt(size.events);
  const last = until !== undefined && until < window ? until : window;
  const rows = await database.query<(EventRow | NoEvent) & { head: bigint }>(logPageSql, [after, last, prefix, size.bytes]);
  const events = rows.filter((row) => row.position !== null);
  const head = rows[0]?.head ?? -1n;
  const end = isCut(events, size) ? (events.at(-1)?.position ?? after) : head < last ? head : last;
  return { events: events.map(storedEvent), seen: end < after ? after : end, head };
}

/** Position of the last event; -1 when the log is empty. @throws DatabaseUnavailable, DatabaseFailure */
export async function logHead(database: Database): Promise<bigint> {
  const [row] = await database.query<{ head: bigint }>(`SELECT coalesce(max(position), -1) AS head FROM mneme.events`);
  return row?.head ?? -1n;
}

interface EventRow {
  position: bigint;
  stream: string;
  revision: bigint;
  event_id: string;
  type: string;
  data: string;
  metadata: string;
  recorded_at: Date;
  /** Of this row and those before it on the page. */
  bytes: number;
}

interface NoEvent {
  position: null;
}

/** A row is left out only when those before it have filled the page. */
const isCut = (rows: readonly EventRow[], size: PageSize): boolean => (rows.at(-1)?.bytes ?? 0) >= size.bytes;

const storedEvent = (row: EventRow): StoredEvent => ({
  id: row.event_id,
  type: row.type,
  data: row.data,
  metadata: row.metadata,
  stream: row.stream,
  revision: row.revision,
  position: row.position,
  recordedAt: row.recorded_at,
});
