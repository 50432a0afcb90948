import { checkAppend } from '../check-append.js';
import { isAppendOutcomeUnknown, isLogUnavailable, LogUnavailable } from '../errors.js';
import {
  EventLog,
  type Append,
  type Appended,
  type AppendOutcome,
  type ExpectedRevision,
  type LogItem,
  type NewEvent,
  type StoredEvent,
} from '../event-log.js';
import { Appender } from './appender.js';
import { openConnection, type Connection, type LogLogger } from './connection.js';
import { Ending } from './ending.js';
import { InFlight, type FlightLimits } from './in-flight.js';
import { Reader } from './reader.js';
import { Subscription, type Patience } from './subscription.js';

export interface EventStoreDbEventLogOptions {
  /** `esdb://...` or `esdb+discover://...`, see docs/eventstoredb.md. */
  readonly connectionString: string;
  readonly logger?: LogLogger;
  /** After so many milliseconds an append has an outcome, be it that the outcome is unknown; default 10,000. */
  readonly appendDeadlineMs?: number;
  /** How long the server may take for the next event of a read, in milliseconds; default 10,000. */
  readonly readDeadlineMs?: number;
  /** How long a subscription may bring nothing before it is compared with the log, in milliseconds; default 5,000. */
  readonly watchdogMs?: number;
}

/** What of one `appendMany` is on its way at once. */
const pipeline: FlightLimits = { count: 128, bytes: 4 * 1024 * 1024 };

/** How long the server has to say that a subscription caught up before the log is looked at. Old ones never say it. */
const catchingUpMs = 250;

/** The event log in EventStoreDB 22.10 or newer, or KurrentDB. Positions are byte offsets in the server's log. */
export class EventStoreDbEventLog extends EventLog {
  private readonly connection: Connection;
  private readonly reader: Reader;
  private readonly appender: Appender;
  private readonly patience: Patience;
  private readonly closing = new Ending();
  private readonly appending = new Set<Promise<Appended>>();

  /**
   * Connects at the first call. All logs of a process share one connection, and so have one server.
   *
   * @throws InvalidConnectionString, and Error when the process has a log on another server
   */
  constructor(options: EventStoreDbEventLogOptions) {
    super();
    const { connectionString, logger, appendDeadlineMs = 10_000, readDeadlineMs = 10_000, watchdogMs = 5000 } = options;
    this.connection = openConnection(connectionString, readDeadlineMs, logger);
    this.reader = new Reader(this.connection, this.closing, readDeadlineMs);
    // Reads back also while the log is being closed.
    this.appender = new Appender(this.connection, new Reader(this.connection, new Ending(), readDeadlineMs), appendDeadlineMs);
    this.patience = { catchingUpMs: Math.min(catchingUpMs, watchdogMs), liveMs: watchdogMs };
  }

  async append(stream: string, events: readonly NewEvent[], { expected }: { expected: ExpectedRevision }): Promise<Appended> {
    this.open();
    const append = { stream, events, expected };
    return this.send(append, checkAppend(append));
  }

  /** On their way at once, 128 of them or 4 MB. What has not been sent when the log goes away is not sent any more. */
  async appendMany(appends: readonly Append[]): Promise<AppendOutcome[]> {
    const flight = new InFlight(pipeline);
    const outcomes: Promise<AppendOutcome>[] = [];
    let gone: LogUnavailable | undefined = this.closing.hasEnded ? closed() : undefined;
    for (const append of appends) {
      const bytes = checked(append);
      if (bytes instanceof Error) {
        outcomes.push(Promise.resolve({ error: bytes }));
        continue;
      }
      await flight.enter(bytes);
      const outcome = gone ? Promise.resolve({ error: gone }) : outcomeOf(this.send(append, bytes));
      const settled = outcome.then((found) => {
        gone ??= goneIn(found);
        flight.leave(bytes);
        return found;
      });
      outcomes.push(settled);
    }
    return Promise.all(outcomes);
  }

  async *readStream(
    stream: string,
    { from = 0n, limit = Number.POSITIVE_INFINITY }: { from?: bigint; limit?: number } = {},
  ): AsyncGenerator<StoredEvent, void, undefined> {
    this.open();
    if (limit > 0) yield* this.reader.stream(stream, from, limit);
  }

  /** The server sends the events of others too, and they are left out here: a read takes as long as the whole log is. */
  async *readAll(range: { after: bigint; prefix: string; until?: bigint }): AsyncGenerator<StoredEvent, void, undefined> {
    this.open();
    // Up to where the log reached when reading began: a reader slower than the writers would never end.
    const head = await this.reader.head();
    const until = range.until === undefined || range.until > head ? head : range.until;
    yield* this.reader.all({ ...range, until });
  }

  async *subscribe(options: { after: bigint; prefix: string; signal: AbortSignal }): AsyncGenerator<LogItem, void, undefined> {
    this.open();
    yield* new Subscription(this.connection, this.reader, this.closing, this.patience, options).items();
  }

  async head(): Promise<bigint> {
    this.open();
    return this.reader.head();
  }

  /** For diagnosis: the server's version, and when it stored its last event. @throws LogUnavailable, AccessDenied */
  async server(): Promise<{ readonly version: string; readonly newest: Date | undefined }> {
    this.open();
    const newest = await this.reader.newest();
    const client = await this.connection.client();
    return { version: await client.serverVersion(), newest };
  }

  /** Takes no more appends, answers those it has, and ends reads and subscriptions with LogUnavailable. */
  async close(): Promise<void> {
    if (this.closing.hasEnded) return;
    const appending = [...this.appending];
    this.closing.end();
    await Promise.allSettled(appending);
    await this.connection.close();
  }

  private send(append: Append, bytes: number): Promise<Appended> {
    const appended = this.appender.append(append, bytes);
    this.appending.add(appended);
    return appended.finally(() => this.appending.delete(appended));
  }

  /** @throws LogUnavailable when it is closed */
  private open(): void {
    if (this.closing.hasEnded) throw closed();
  }
}

const closed = (): LogUnavailable => new LogUnavailable('the event log is closed');

function checked(append: Append): number | Error {
  try {
    return checkAppend(append);
  } catch (error) {
    return error instanceof Error ? error : new Error('an append that cannot be checked');
  }
}

async function outcomeOf(appended: Promise<Appended>): Promise<AppendOutcome> {
  try {
    return { appended: await appended };
  } catch (error) {
    return { error: error instanceof Error ? error : new Error('an append failed without an error') };
  }
}

/** After an append without a known outcome the rest would wait in vain, each to its own deadline. */
function goneIn(outcome: AppendOutcome | undefined): LogUnavailable | undefined {
  if (!outcome || !('error' in outcome)) return undefined;
  const { error } = outcome;
  if (!isLogUnavailable(error) && !isAppendOutcomeUnknown(error)) return undefined;
  return new LogUnavailable('the log went away before this append was sent', { cause: error });
}
