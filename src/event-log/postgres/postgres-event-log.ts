import type { Database } from '../../database/database.js';
import { checkAppend } from '../check-append.js';
import { isLogUnavailable, LogUnavailable } from '../errors.js';
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
import { AppendCoalescer, type SizedAppend } from './append-coalescer.js';
import { appendEvents, logHead, logPage, streamPage, type LogPage, type PageSize } from './event-queries.js';
import { appendFailure, mayBeAnotherAppend, readFailure } from './failures.js';
import { pause, unlessAborted, Wakes } from './wakes.js';

export interface PostgresEventLogOptions {
  /** How often an idle subscription looks for events of other processes, in milliseconds; default 100. */
  readonly pollMs?: number;
  /** Events read by one query at most; default 4,000 on a server, 500 on the embedded database, where all wait for the one connection. */
  readonly pageEvents?: number;
}

const serverPageEvents = 4000;
const embeddedPageEvents = 500;

/** Of the first page when reading all: who looks for the next event alone does not pay for thousands. */
const firstPageEvents = 100;
/** How much larger each page may be than the one before. */
const pageGrowth = 5;

/** Memory that one query's events may take, about: the events, and once more while they are parsed. */
const pageBytes = 8 * 1024 * 1024;

/** A subscription looks at most this often, however many appends wake it: each look is a query that appends compete with. */
const leastPollMs = 10;

/** A connection that has been idle so long may be dead without our knowing. */
const doubtfulAfterMs = 1000;

/**
 * The event log in PostgreSQL, embedded or native. Positions have no gaps and their order is the order of commits, so
 * readers follow it by position alone and hold neither transaction nor cursor between pages.
 */
export class PostgresEventLog extends EventLog {
  private readonly coalescer = new AppendCoalescer((appends) => this.send(appends));
  private readonly wakes = new Wakes();
  private readonly pollMs: number;
  private readonly page: PageSize;
  private answeredAt = Number.NEGATIVE_INFINITY;
  private closed = false;

  /** @param database must read committed, PostgreSQL's default; stays open when the log is closed */
  constructor(
    private readonly database: Database,
    { pollMs = 100, pageEvents = database.embedded ? embeddedPageEvents : serverPageEvents }: PostgresEventLogOptions = {},
  ) {
    super();
    this.pollMs = pollMs;
    this.page = { events: pageEvents, bytes: pageBytes };
  }

  async append(stream: string, events: readonly NewEvent[], options: { expected: ExpectedRevision }): Promise<Appended> {
    const [outcome] = await this.appendMany([{ stream, events, expected: options.expected }]);
    if (!outcome) throw new Error('an append without an outcome');
    if ('error' in outcome) throw outcome.error;
    return outcome.appended;
  }

  /** In one transaction up to 500 events or 8 MB; more are several. Two appends to one stream are carried out in the order given. */
  async appendMany(appends: readonly Append[]): Promise<AppendOutcome[]> {
    const outcomes: (AppendOutcome | undefined)[] = [];
    const sound: SizedAppend[] = [];
    for (const append of appends) {
      const checked = this.check(append);
      outcomes.push('error' in checked ? checked : undefined);
      if (!('error' in checked)) sound.push(checked);
    }
    const sent = await this.coalescer.submit(sound);
    return outcomes.map((refused) => refused ?? sent.shift() ?? { error: new Error('an append without an outcome') });
  }

  async *readStream(
    stream: string,
    options: { from?: bigint; limit?: number } = {},
  ): AsyncGenerator<StoredEvent, void, undefined> {
    let { from = 0n, limit = Number.POSITIVE_INFINITY } = options;
    while (limit > 0) {
      const size = { ...this.page, events: Math.min(this.page.events, limit) };
      const { events, more } = await streamPage(this.database, stream, from, size).catch(rethrowReadFailure);
      yield* events;
      if (!more) return;
      limit -= events.length;
      from += BigInt(events.length);
    }
  }

  async *readAll(range: { after: bigint; prefix: string; until?: bigint }): AsyncGenerator<StoredEvent, void, undefined> {
    let { after, until } = range;
    let size = { ...this.page, events: Math.min(firstPageEvents, this.page.events) };
    let ahead: Promise<LogPage> | undefined;
    while (until === undefined || after < until) {
      const page = await (ahead ?? this.readPage({ ...range, after, until }, size));
      // Up to where the log reached when reading began: a reader slower than the writers would never end.
      until = until === undefined || until > page.head ? page.head : until;
      after = page.seen;
      size = { ...size, events: Math.min(size.events * pageGrowth, this.page.events) };
      ahead = undefined;
      for (const event of page.events) {
        yield event;
        // Only now: who wanted one event has left. Not on the embedded database, where it would stand in its reader's way.
        if (!this.database.embedded && after < until) ahead ??= this.readPage({ ...range, after, until }, size);
      }
    }
  }

  async *subscribe(options: { after: bigint; prefix: string; signal: AbortSignal }): AsyncGenerator<LogItem, void, undefined> {
    const { prefix, signal } = options;
    let { after } = options;
    let caughtUp = false;
    while (!signal.aborted) {
      const looked = { wakes: this.wakes.sofar, at: performance.now() };
      const page = await this.nextPage(after, prefix, signal);
      if (!page) return;
      for (const event of page.events) {
        yield { kind: 'event', event };
        if (aborted(signal)) return;
      }
      const moved = page.seen > (page.events.at(-1)?.position ?? after);
      after = page.seen;
      if (!caughtUp && after >= page.head) {
        caughtUp = true;
        yield { kind: 'caught_up', position: after };
      } else if (moved) yield { kind: 'checkpoint', position: after };
      if (after < page.head) continue;
      await this.wakes.sleep(this.pollMs, looked.wakes, signal);
      await pause(looked.at + leastPollMs - performance.now(), signal);
    }
  }

  async head(): Promise<bigint> {
    return logHead(this.database).catch(rethrowReadFailure);
  }

  /** Takes no more appends, answers those it has, and ends sleeping subscriptions with LogUnavailable. The database stays open. */
  async close(): Promise<void> {
    this.closed = true;
    this.wakes.wake();
    await this.coalescer.idle();
  }

  private check(append: Append): SizedAppend | { error: Error } {
    if (this.closed) return { error: new LogUnavailable('the event log is closed') };
    try {
      return { ...append, bytes: checkAppend(append) };
    } catch (error) {
      return { error: error instanceof Error ? error : new Error('an append that cannot be checked') };
    }
  }

  private readPage(range: Parameters<typeof logPage>[1], size: PageSize): Promise<LogPage> {
    const page = logPage(this.database, range, size).catch(rethrowReadFailure);
    page.catch(() => undefined); // of a page read ahead that nobody came for
    return page;
  }

  private async nextPage(after: bigint, prefix: string, signal: AbortSignal): Promise<LogPage | undefined> {
    if (this.closed) throw new LogUnavailable('the event log is closed');
    const page = logPage(this.database, { after, until: undefined, prefix }, this.page);
    return unlessAborted(page, signal).catch((error: unknown) => {
      const failure = readFailure(error);
      throw isLogUnavailable(failure) ? failure : new LogUnavailable(failure.message, { cause: error });
    });
  }

  private async send(appends: readonly SizedAppend[]): Promise<AppendOutcome[]> {
    const unreachable = await this.unreachable();
    if (unreachable) return appends.map(() => ({ error: unreachable }));
    const outcomes = await this.sendAtOnce(appends);
    this.wakes.wake();
    return outcomes;
  }

  /**
   * Asks before it sends when the connection may be dead. An append that meets a dead connection has an unknown outcome,
   * although nothing was sent; a question that meets one says for certain that the log is unavailable.
   */
  private async unreachable(): Promise<Error | undefined> {
    if (performance.now() - this.answeredAt < doubtfulAfterMs) return undefined;
    return logHead(this.database).then(() => undefined, readFailure);
  }

  private async sendAtOnce(appends: readonly SizedAppend[]): Promise<AppendOutcome[]> {
    try {
      const outcomes = await appendEvents(this.database, appends);
      this.answeredAt = performance.now();
      return outcomes;
    } catch (error) {
      this.answeredAt = Number.NEGATIVE_INFINITY;
      const failure = appendFailure(error);
      return appends.length > 1 && mayBeAnotherAppend(failure)
        ? this.sendOneByOne(appends)
        : appends.map(() => ({ error: failure }));
    }
  }

  /** One append of a batch made the whole of it fail: alone, only that one does. Stops trying when the log goes away meanwhile. */
  private async sendOneByOne(appends: readonly SizedAppend[]): Promise<AppendOutcome[]> {
    const outcomes: AppendOutcome[] = [];
    for (const append of appends) {
      const last = outcomes.at(-1);
      const gone = last && 'error' in last && isLogUnavailable(last.error);
      outcomes.push(...(gone ? [last] : await this.send([append])));
    }
    return outcomes;
  }
}

/** Read anew after every `yield`: what the consumer did meanwhile is invisible to the compiler's narrowing. */
const aborted = (signal: AbortSignal): boolean => signal.aborted;

function rethrowReadFailure(error: unknown): never {
  throw readFailure(error);
}
