import { setMaxListeners } from 'node:events';
import { compiledFile } from '../config/package-root.js';
import { bundledContract } from './bundled-model.js';
import { EmbedderThreads } from './embedder-threads.js';
import { EmbeddingGenerator } from './embedding-generator.js';

/** Texts of one job of a thread: somebody who waits for one text waits at most for one such job (8 short ones: 60 ms). */
const textsOfJob = 8;

export interface BundledEmbedderOptions {
  /** Threads, 1 by default. Each takes about 170 MB, and a processor while it works. */
  readonly workers?: number;
  /** Compiled file of a thread; the real model by default. */
  readonly workerFile?: string;
  /** A thread that takes longer for one job is replaced, 60,000 ms. */
  readonly stuckAfterMs?: number;
}

/**
 * Universal Sentence Encoder Lite, English, whose weights are inside the package: no network, no key, no setting.
 *
 * Vectors have 512 dimensions and norm 1. The model reads 128 tokens at a time; longer texts are embedded in up to 8
 * pieces, whose mean is the text's vector. It knows no other script than Latin: what it cannot read is all the same to it.
 *
 * A single text goes before batches, because a person waits for it. The first call loads the model, in about 300 ms.
 */
export class BundledEmbedder extends EmbeddingGenerator {
  readonly contract = bundledContract;
  private readonly threads: EmbedderThreads;

  constructor({
    workers = 1,
    workerFile = compiledFile('src/embedding/bundled-embedder.worker.js'),
    stuckAfterMs = 60_000,
  }: BundledEmbedderOptions = {}) {
    super();
    this.threads = new EmbedderThreads({ file: workerFile, count: workers, stuckAfterMs });
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    const failed = new AbortController();
    const options = { urgent: texts.length === 1, signal: AbortSignal.any([signal, failed.signal]) };
    // Every job listens; Node takes more than 10 listeners of one signal for a leak and warns.
    setMaxListeners(0, options.signal);
    const jobs: Promise<Float32Array>[] = [];
    for (let start = 0; start < texts.length; start += textsOfJob) {
      jobs.push(this.threads.run(texts.slice(start, start + textsOfJob), options));
    }
    try {
      return (await Promise.all(jobs)).flatMap((vectors) => cut(vectors, this.contract.dimensions));
    } catch (error) {
      // The request has failed: what of it still waits in the queue need not be done.
      failed.abort(error);
      throw error;
    }
  }

  override close(): Promise<void> {
    return this.threads.close();
  }
}

function cut(vectors: Float32Array, dimensions: number): Float32Array[] {
  return Array.from({ length: vectors.length / dimensions }, (_, index) =>
    vectors.subarray(index * dimensions, (index + 1) * dimensions),
  );
}
