import { setImmediate as yieldToOthers } from 'node:timers/promises';
import { growingDelay } from '../backoff.js';
import type { Database } from '../database/database.js';
import type { DataKeys } from '../encryption/data-keys.js';
import { embedBatch } from './embedding-batch.js';
import {
  countPending,
  findMissing,
  findOutdated,
  recordFailures,
  writeVectors,
  type EmbeddingDocuments,
  type PendingCounts,
  type PendingDocument,
} from './embedding-documents.js';
import type { EmbeddingGenerator } from './embedding-generator.js';
import { exceptionType } from './errors.js';
import { Pause } from './pause.js';
import { VectorCache, vectorText, type CachedVector, type VectorText } from './vector-cache.js';

export interface EmbeddingLogger {
  warn(details: Readonly<Record<string, unknown>>, message: string): void;
}

export interface EmbeddingWorkerOptions {
  readonly database: Database;
  readonly generator: EmbeddingGenerator;
  readonly keys: Pick<DataKeys, 'derived'>;
  readonly documents: readonly EmbeddingDocuments[];
  readonly logger?: EmbeddingLogger;
  /** Documents embedded at once, 16. */
  readonly batchSize?: number;
  /** Shortest wait before an idle worker looks again, 500 ms; it doubles up to a minute while nothing is found. */
  readonly idleMs?: number;
  /** Longest wait for the vectors of one batch, 120,000 ms. */
  readonly timeoutMs?: number;
  /** First and longest wait before a failed document is tried again: 1 s, 10 min. */
  readonly retryMs?: { readonly first: number; readonly longest: number };
}

/** What one look at the documents came to. */
export interface Round {
  readonly found: number;
  readonly filled: number;
  readonly failed: number;
}

const longestIdleMs = 60_000;
/** The model, or the database, is down: the next attempt of any document waits this long. */
const outageMs = { first: 1_000, longest: 30_000 };
/** Vectors of another contract come from a change of model, at start-up, and from nowhere else; this is for good measure. */
const outdatedEveryMs = 300_000;

/** A document with the key of its content; `undefined` when its team's key cannot be had. */
interface Keyed {
  readonly document: PendingDocument;
  readonly contentHmac: string;
}

/**
 * Makes the vectors that read-model rows lack, beside the projections and outside their transactions.
 *
 * Vectors of equal content are taken from the cache. A document that fails is tried again for ever, at growing intervals,
 * and holds up no other; when the model is down, one document at a time tries whether it is back. Several workers may run:
 * they may make a vector twice, never a wrong one.
 */
export class EmbeddingWorker {
  private readonly cache: VectorCache;
  private readonly pause = new Pause();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private failedRounds = 0;
  private nextOutdatedLook = 0;

  constructor(private readonly options: EmbeddingWorkerOptions) {
    const { database, keys, generator, documents } = options;
    this.cache = new VectorCache(database, keys, generator.contract, documents);
  }

  start(): void {
    this.running ??= this.run();
  }

  /** Stops waiting for the model at once; what was not written is made after the next start. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.pause.end();
    await this.running;
  }

  /** Something was written that may lack vectors: look now. It does not shorten the wait for a model that is down. */
  wake(): void {
    if (this.failedRounds === 0) this.pause.end();
  }

  /** @throws DatabaseUnavailable */
  async status(): Promise<PendingCounts> {
    const { database, documents, generator } = this.options;
    const counts = await database.as('mneme_projector', async (queries) => {
      const all: PendingCounts[] = [];
      for (const each of documents) all.push(await countPending(queries, each, generator.contract.id));
      return all;
    });
    const ages = counts.flatMap(({ oldestPendingSeconds }) => oldestPendingSeconds ?? []);
    return {
      pending: counts.reduce((sum, { pending }) => sum + pending, 0),
      failed: counts.reduce((sum, { failed }) => sum + failed, 0),
      oldestPendingSeconds: ages.length === 0 ? null : Math.max(...ages),
    };
  }

  /**
   * Fills at most one batch of each kind of document: what the running worker does over and over.
   *
   * @throws DatabaseUnavailable; DOMException `AbortError` once stopped
   */
  async fillOnce(): Promise<Round> {
    const total = { found: 0, filled: 0, failed: 0 };
    for (const documents of this.options.documents) {
      const found = await this.findPending(documents);
      const { filled, failed } = await this.fill(documents, found);
      total.found += found.length;
      total.filled += filled;
      total.failed += failed;
    }
    // A document whose attempt failed says nothing about the model as long as another succeeds.
    this.failedRounds = total.failed > 0 && total.filled === 0 ? this.failedRounds + 1 : 0;
    return total;
  }

  private async run(): Promise<void> {
    let idleMs = this.options.idleMs ?? 500;
    while (!this.stopping.signal.aborted) {
      const round = await this.tryOnce();
      if (this.failedRounds > 0) await this.pause.wait(growingDelay(this.failedRounds, outageMs));
      else if (round.filled + round.failed > 0) {
        idleMs = this.options.idleMs ?? 500;
        await yieldToOthers();
      } else {
        const woken = await this.pause.wait(idleMs);
        idleMs = woken ? (this.options.idleMs ?? 500) : Math.min(idleMs * 2, longestIdleMs);
      }
    }
  }

  private async tryOnce(): Promise<Round> {
    try {
      const round = await this.fillOnce();
      if (this.failedRounds > 0) this.warn({ failed: round.failed, in_a_row: this.failedRounds }, 'no vector could be made');
      return round;
    } catch (error) {
      if (!this.stopping.signal.aborted) {
        this.failedRounds += 1;
        this.warn({ error: exceptionType(error), in_a_row: this.failedRounds }, 'documents without vectors could not be served');
      }
      return { found: 0, filled: 0, failed: 0 };
    }
  }

  private warn(details: Readonly<Record<string, unknown>>, message: string): void {
    this.options.logger?.warn(details, message);
  }

  private async findPending(documents: EmbeddingDocuments): Promise<PendingDocument[]> {
    const { database, generator, batchSize = 16 } = this.options;
    // One document is enough to see whether the model is back.
    const limit = this.failedRounds > 0 ? 1 : batchSize;
    const lookForOutdated = Date.now() >= this.nextOutdatedLook;
    return database.as('mneme_projector', async (queries) => {
      const missing = await findMissing(queries, documents, limit);
      if (missing.length > 0 || !lookForOutdated) return missing;
      const outdated = await findOutdated(queries, documents, generator.contract.id, limit);
      if (outdated.length === 0) this.nextOutdatedLook = Date.now() + outdatedEveryMs;
      return outdated;
    });
  }

  private async fill(
    documents: EmbeddingDocuments,
    found: readonly PendingDocument[],
  ): Promise<{ filled: number; failed: number }> {
    if (found.length === 0) return { filled: 0, failed: 0 };
    const { keyed, failures } = await this.withKeys(found);
    const cached = await this.cache.find(keyed.map(({ document, contentHmac }) => ({ team: document.team_id, contentHmac })));
    const made = await this.makeVectors(keyed.filter(({ contentHmac }) => !cached.has(contentHmac)));
    for (const [document, failure] of made.failures) failures.set(document, failure);
    const vectors = new Map([...cached, ...made.vectors]);
    const filled = await this.store(documents, keyed, vectors, failures);
    await this.recordFailures(documents, failures);
    return { filled, failed: failures.size };
  }

  /** A team whose key is gone or unreadable fails with its documents only. */
  private async withKeys(found: readonly PendingDocument[]): Promise<{ keyed: Keyed[]; failures: Map<PendingDocument, string> }> {
    const keyed: Keyed[] = [];
    const failures = new Map<PendingDocument, string>();
    for (const team of new Set(found.map(({ team_id }) => team_id))) {
      const documents = found.filter(({ team_id }) => team_id === team);
      try {
        const hmac = await this.cache.hmacOf(team);
        keyed.push(...documents.map((document) => ({ document, contentHmac: hmac(document.text) })));
      } catch (error) {
        for (const document of documents) failures.set(document, exceptionType(error));
      }
    }
    return { keyed, failures };
  }

  /** One vector per content, by its HMAC, and why the others failed. */
  private async makeVectors(
    keyed: readonly Keyed[],
  ): Promise<{ vectors: Map<string, VectorText>; failures: Map<PendingDocument, string> }> {
    const contents = [...new Map(keyed.map((each) => [each.contentHmac, each])).values()];
    const { generator, timeoutMs = 120_000 } = this.options;
    const outcome = await embedBatch(
      generator,
      contents.map(({ document }) => document.text),
      { timeoutMs, signal: this.stopping.signal },
    );
    const vectors = new Map<string, VectorText>();
    const failures = new Map<PendingDocument, string>();
    contents.forEach(({ contentHmac }, index) => {
      const vector = outcome.vectors.get(index);
      if (vector) vectors.set(contentHmac, vectorText(vector));
      const failure = outcome.failures.get(index);
      if (failure === undefined) return;
      for (const each of keyed) if (each.contentHmac === contentHmac) failures.set(each.document, failure);
    });
    return { vectors, failures };
  }

  /** First the cache, which checks that the memory still has its key, then the read model. */
  private async store(
    documents: EmbeddingDocuments,
    keyed: readonly Keyed[],
    vectors: ReadonlyMap<string, VectorText>,
    failures: Map<PendingDocument, string>,
  ): Promise<number> {
    const ready = keyed.flatMap(({ document, contentHmac }) => {
      const vector = vectors.get(contentHmac);
      return vector === undefined ? [] : [{ document, contentHmac, vector }];
    });
    const kept = await this.cache.keep(
      ready.map(({ document, contentHmac, vector }): CachedVector => ({
        team: document.team_id,
        memoryId: document.id,
        contentHmac,
        vector,
      })),
    );
    for (const { document } of ready) if (!kept.has(document.id)) failures.set(document, 'no data key');
    const written = ready
      .filter(({ document }) => kept.has(document.id))
      .map(({ document, vector }) => ({ ...document, vector }));
    if (written.length === 0) return 0;
    return this.options.database.as('mneme_projector', (queries) =>
      writeVectors(queries, documents, this.options.generator.contract.id, written),
    );
  }

  private async recordFailures(documents: EmbeddingDocuments, failures: ReadonlyMap<PendingDocument, string>): Promise<void> {
    if (failures.size === 0) return;
    const { retryMs = { first: 1_000, longest: 600_000 }, database } = this.options;
    const failed = [...failures].map(([document, failure]) => ({
      document,
      failure,
      delayMs: growingDelay(document.attempts + 1, retryMs),
    }));
    await database.as('mneme_projector', (queries) => recordFailures(queries, documents, failed));
  }
}
