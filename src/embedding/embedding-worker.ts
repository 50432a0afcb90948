import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { growingDelay, type DelayBounds } from '../backoff.js';
import {
  adoptContract,
  buildGeneration,
  countPending,
  findRetries,
  findUntried,
  sumOf,
  type DocumentKey,
  type EmbeddingDocuments,
  type PendingCounts,
  type PendingDocument,
} from './embedding-documents.js';
import { DocumentFiller, type DocumentFillerOptions, type Filled } from './document-filler.js';
import { exceptionType, type EmbeddingUnavailable } from './errors.js';
import { Pause } from './pause.js';

export interface EmbeddingLogger {
  info(details: Readonly<Record<string, unknown>>, message: string): void;
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
}

export interface EmbeddingWorkerOptions extends DocumentFillerOptions {
  readonly documents: readonly EmbeddingDocuments[];
  readonly logger?: EmbeddingLogger;
  /** Documents embedded at once, 16. */
  readonly batchSize?: number;
  /** Shortest wait before an idle worker looks again, 500 ms; it doubles up to a minute while nothing is found. */
  readonly idleMs?: number;
  /** Wait after the first failure of the model as a whole, and the longest one: 1 s, 30 s. */
  readonly outageMs?: DelayBounds;
}

/** What one look at the documents came to. */
export interface Round extends Filled {
  readonly found: number;
}

export interface EmbeddingStatus extends PendingCounts {
  /** Why the model gives no vectors at present, in this process; undefined while it does, or was not asked. */
  readonly outage: EmbeddingUnavailable | undefined;
}

const longestIdleMs = 60_000;
/** How often a worker that is not elected looks whether it is now. */
const electionMs = 1_000;
/** Rows of another contract come from a change of model, or with another build; this is for good measure. */
const adoptEveryMs = 300_000;
/** Rows of one statement that adopts a contract. */
const adoptedAtOnce = 1_000;
/** Failed documents take so many places of one round in so many, and more only where nothing else waits: thousands of them must not hold up new ones. */
const retriesAtOnce = 4;
const roundsBetweenRetries = 8;

/**
 * Makes the vectors that read-model rows lack, beside the projections and outside their transactions.
 *
 * What is pending is what the rows say, so nothing is lost with the process. Vectors of equal content are taken from the
 * cache. A document that fails is tried again for ever, at growing intervals, and holds up no other; while the model is down,
 * no document is tried and none is blamed. Of several services one embeds; should two, they make a vector twice, never a
 * wrong one.
 */
export class EmbeddingWorker {
  private readonly filler: DocumentFiller;
  private readonly pause = new Pause();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  /** Rounds in a row in which nothing could be done: the model is down, or the database. */
  private troubles = 0;
  private outage: EmbeddingUnavailable | undefined;
  private rounds = 0;
  private adopted: { generation: bigint | undefined; until: number } | undefined;

  constructor(private readonly options: EmbeddingWorkerOptions) {
    this.filler = new DocumentFiller(options, this.stopping.signal);
  }

  /** @param elected whether this process is the one of several that makes the vectors; asked before each round */
  start(elected: () => boolean = () => true): void {
    this.running ??= this.run(elected);
  }

  /** Stops waiting for the model at once; what was not written is made after the next start. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.pause.end();
    await this.running;
  }

  /** Something was written that may lack vectors: look now. It does not shorten the wait for a model that is down. */
  wake(): void {
    if (this.troubles === 0) this.pause.end();
  }

  /** @throws DatabaseUnavailable */
  async status(): Promise<EmbeddingStatus> {
    const { database, documents } = this.options;
    const counts = await database.as('mneme_projector', async (queries) => {
      const all: PendingCounts[] = [];
      for (const each of documents) all.push(await countPending(queries, each));
      return all;
    });
    return { ...sumOf(counts), outage: this.outage };
  }

  /**
   * Fills at most one batch of each kind of document: what the running worker does over and over.
   *
   * @throws DatabaseUnavailable; DOMException `AbortError` once stopped
   */
  async fillOnce(): Promise<Round> {
    const total = { found: 0, filled: 0, failed: 0 };
    await this.adoptWhenDue();
    // Before any document is tried: each would be sent in vain.
    if (this.outage) this.outage = await this.filler.outage();
    this.rounds += 1;
    for (const documents of this.options.documents) {
      if (this.outage) break;
      for (const batch of await this.findPending(documents)) {
        if (this.outage || batch.length === 0) continue;
        const { filled, failed, outage } = await this.filler.fill(documents, batch);
        this.outage = outage;
        total.found += batch.length;
        total.filled += filled;
        total.failed += failed;
      }
    }
    return { ...total, outage: this.outage };
  }

  private async run(elected: () => boolean): Promise<void> {
    const { idleMs: shortestIdleMs = 500, outageMs = { first: 1_000, longest: 30_000 } } = this.options;
    let idleMs = shortestIdleMs;
    while (!this.stopping.signal.aborted) {
      if (!elected()) {
        await this.pause.wait(electionMs);
        continue;
      }
      const { filled, failed } = await this.tryOnce();
      if (this.troubles > 0)
        await this.pause.wait(Math.max(growingDelay(this.troubles, outageMs), this.outage?.retryAfterMs ?? 0));
      else if (filled + failed > 0) {
        idleMs = shortestIdleMs;
        await yieldToOthers();
      } else {
        const woken = await this.pause.wait(idleMs);
        idleMs = woken ? shortestIdleMs : Math.min(idleMs * 2, longestIdleMs);
      }
    }
  }

  private async tryOnce(): Promise<Pick<Round, 'filled' | 'failed'>> {
    try {
      const round = await this.fillOnce();
      if (round.outage) this.trouble({ error: round.outage.description }, 'the embedding model makes no vectors');
      else this.recovered();
      return round;
    } catch (error) {
      if (!this.stopping.signal.aborted)
        this.trouble({ error: exceptionType(error) }, 'documents without vectors could not be served');
      return { filled: 0, failed: 0 };
    }
  }

  private trouble(details: Readonly<Record<string, unknown>>, message: string): void {
    this.troubles += 1;
    this.options.logger?.warn({ ...details, in_a_row: this.troubles }, message);
  }

  private recovered(): void {
    if (this.troubles > 0) this.options.logger?.info({}, 'vectors are made again');
    this.troubles = 0;
  }

  /** First those that were never tried, then, at times, those that failed. */
  private async findPending(documents: EmbeddingDocuments): Promise<[PendingDocument[], PendingDocument[]]> {
    const { database, batchSize = 16 } = this.options;
    return database.as('mneme_projector', async (queries) => {
      const untried = await findUntried(queries, documents, batchSize);
      const calm = untried.length === 0;
      if (!calm && this.rounds % roundsBetweenRetries > 0) return [untried, []];
      return [untried, await findRetries(queries, documents, calm ? batchSize : retriesAtOnce)];
    });
  }

  /** At the start, when another build begins to serve, and now and then. */
  private async adoptWhenDue(): Promise<void> {
    const { database, documents } = this.options;
    const generation = await database.as('mneme_projector', buildGeneration);
    if (this.adopted?.generation === generation && Date.now() < (this.adopted?.until ?? 0)) return;
    for (const each of documents) await this.adopt(each);
    this.adopted = { generation, until: Date.now() + adoptEveryMs };
  }

  private async adopt(documents: EmbeddingDocuments): Promise<void> {
    const { database, generator } = this.options;
    let after: DocumentKey | undefined;
    do {
      const page = { after, limit: adoptedAtOnce };
      after = await database.as('mneme_projector', (queries) => adoptContract(queries, documents, generator.contract.id, page));
    } while (after && !this.stopping.signal.aborted);
  }
}
