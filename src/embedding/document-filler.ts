import { growingDelay, type DelayBounds } from '../backoff.js';
import type { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../database/errors.js';
import type { DataKeys } from '../encryption/data-keys.js';
import { embedBatch, outageOf } from './embedding-batch.js';
import { recordFailures, writeVectors, type EmbeddingDocuments, type PendingDocument } from './embedding-documents.js';
import type { EmbeddingGenerator } from './embedding-generator.js';
import { EmbeddingUnavailable, exceptionType, type EmbeddingFailureReason } from './errors.js';
import { VectorCache, vectorText, type VectorText } from './vector-cache.js';

/** Told of every document, for metrics. */
export interface EmbeddingObserver {
  /** Rows that got their vector, made by the model or taken from the cache. */
  filled(documents: number, from: 'model' | 'cache'): void;
  /** A document that is at fault itself. */
  failed(reason: EmbeddingFailureReason): void;
}

export interface DocumentFillerOptions {
  readonly database: Database;
  readonly generator: EmbeddingGenerator;
  readonly keys: Pick<DataKeys, 'derived'>;
  readonly observer?: EmbeddingObserver;
  /** Longest wait for the vectors of one call, 60,000 ms. */
  readonly timeoutMs?: number;
  /** First and longest wait before a document that failed for a passing reason is tried again: 1 s, 10 min. */
  readonly retryMs?: DelayBounds;
  /** The same where the model does not take the text: only another model, or a mended one, will. 10 min, 1 day. */
  readonly refusedRetryMs?: DelayBounds;
}

/** What became of some documents. */
export interface Filled {
  readonly filled: number;
  readonly failed: number;
  /** The model is down: nothing became of the rest. */
  readonly outage: EmbeddingUnavailable | undefined;
}

/** What repeating alone does not cure. */
const lasting: ReadonlySet<EmbeddingFailureReason> = new Set(['refused', 'wrong_dimensions', 'not_finite', 'zero_norm']);

/** A document with the keyed hash of its content. */
interface Keyed {
  readonly document: PendingDocument;
  readonly contentHmac: string;
}

type Failures = Map<PendingDocument, EmbeddingUnavailable>;

/** Gives documents their vectors: from the cache, else from the model; and remembers what fails in their rows. */
export class DocumentFiller {
  private readonly cache: VectorCache;

  constructor(
    private readonly options: DocumentFillerOptions,
    private readonly signal: AbortSignal,
  ) {
    const { database, keys, generator } = options;
    this.cache = new VectorCache(database, keys, generator.contract, []);
  }

  /** Why the model makes no vectors; undefined when it does. @throws DOMException `AbortError` */
  outage(): Promise<EmbeddingUnavailable | undefined> {
    return outageOf(this.options.generator, this.wait);
  }

  /** @throws DatabaseUnavailable; DOMException `AbortError` */
  async fill(documents: EmbeddingDocuments, found: readonly PendingDocument[]): Promise<Filled> {
    const { keyed, failures } = await this.withKeys(found);
    const cached = await this.cache.find(keyed.map(({ document, contentHmac }) => ({ team: document.team_id, contentHmac })));
    const made = await this.makeVectors(keyed.filter(({ contentHmac }) => !cached.has(contentHmac)));
    for (const [document, failure] of made.failures) failures.set(document, failure);
    const fromCache = await this.store(documents, keyed, cached, failures);
    const fromModel = await this.store(documents, keyed, made.vectors, failures);
    await this.recordFailures(documents, failures);
    this.options.observer?.filled(fromCache, 'cache');
    this.options.observer?.filled(fromModel, 'model');
    for (const { reason } of failures.values()) this.options.observer?.failed(reason);
    return { filled: fromCache + fromModel, failed: failures.size, outage: made.outage };
  }

  private get wait() {
    return { timeoutMs: this.options.timeoutMs ?? 60_000, signal: this.signal };
  }

  /** A team whose key is gone or unreadable fails with its documents only. */
  private async withKeys(found: readonly PendingDocument[]): Promise<{ keyed: Keyed[]; failures: Failures }> {
    const keyed: Keyed[] = [];
    const failures: Failures = new Map();
    for (const team of new Set(found.map(({ team_id }) => team_id))) {
      const documents = found.filter(({ team_id }) => team_id === team);
      try {
        const hmac = await this.cache.hmacOf(team);
        keyed.push(...documents.map((document) => ({ document, contentHmac: hmac(document.text) })));
      } catch (error) {
        if (isDatabaseUnavailable(error)) throw error;
        const failure = new EmbeddingUnavailable('no_data_key', exceptionType(error));
        for (const document of documents) failures.set(document, failure);
      }
    }
    return { keyed, failures };
  }

  /** One vector per content, by its HMAC, and why others failed. */
  private async makeVectors(keyed: readonly Keyed[]) {
    const contents = [...new Map(keyed.map((each) => [each.contentHmac, each])).values()];
    const texts = contents.map(({ document }) => document.text);
    const outcome = await embedBatch(this.options.generator, texts, this.wait);
    const vectors = new Map<string, VectorText>();
    const failures: Failures = new Map();
    contents.forEach(({ contentHmac }, index) => {
      const vector = outcome.vectors.get(index);
      if (vector) vectors.set(contentHmac, vectorText(vector));
      const failure = outcome.failures.get(index);
      if (failure === undefined) return;
      for (const each of keyed) if (each.contentHmac === contentHmac) failures.set(each.document, failure);
    });
    return { vectors, failures, outage: outcome.outage };
  }

  /** First the cache, which checks that the memory still has its key, then the read model. @returns rows written */
  private async store(
    documents: EmbeddingDocuments,
    keyed: readonly Keyed[],
    vectors: ReadonlyMap<string, VectorText>,
    failures: Failures,
  ): Promise<number> {
    const ready = keyed.flatMap(({ document, contentHmac }) => {
      const vector = vectors.get(contentHmac);
      return vector === undefined
        ? []
        : [{ ...document, memoryId: document.id, team: document.team_id, contentHmac, vector, document }];
    });
    if (ready.length === 0) return 0;
    const kept = await this.cache.keep(ready);
    const written = ready.filter(({ id }) => kept.has(id));
    for (const { id, document } of ready)
      if (!kept.has(id)) failures.set(document, new EmbeddingUnavailable('no_data_key', undefined));
    return this.options.database.as('mneme_projector', (queries) =>
      writeVectors(queries, documents, this.options.generator.contract.id, written),
    );
  }

  private async recordFailures(documents: EmbeddingDocuments, failures: Failures): Promise<void> {
    if (failures.size === 0) return;
    const { retryMs = { first: 1_000, longest: 600_000 }, refusedRetryMs = { first: 600_000, longest: 86_400_000 } } =
      this.options;
    const failed = [...failures].map(([document, failure]) => ({
      document,
      failure: failure.description,
      delayMs: growingDelay(document.attempts + 1, lasting.has(failure.reason) ? refusedRetryMs : retryMs),
    }));
    await this.options.database.as('mneme_projector', (queries) =>
      recordFailures(queries, documents, this.options.generator.contract.id, failed),
    );
  }
}
