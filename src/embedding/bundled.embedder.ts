import { setMaxListeners } from 'node:events';
import { compiledFile } from '../config/package-root.js';
import { bundledContract } from './bundled-model.js';
import { EmbedderThreads } from './embedder-threads.js';
import { EmbeddingGenerator } from './embedding-generator.js';

/**
 * Texts and UTF-16 units of one job of a thread: somebody who waits for one text waits for at most one such job, 70 ms when
 * its texts are short and a second when it is one text without end.
 */
const textsOfJob = 8;
const unitsOfJob = 4_000;

export interface BundledEmbedderOptions {
  /** Threads, 1 by default. The first takes 140 MB, each further one 120, and up to 100 more with long texts. */
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
 * A single text goes before batches, because a person waits for it. The first call loads the model, in about half a second.
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
    const jobs = jobsOf(texts).map((job) => this.threads.run(job, options));
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

/** Consecutive texts, cut into jobs; a text that is longer than a job's units has one of its own. */
function jobsOf(texts: readonly string[]): string[][] {
  const jobs: string[][] = [];
  let units = 0;
  for (const text of texts) {
    const job = jobs.at(-1);
    units += text.length;
    if (job && job.length < textsOfJob && units <= unitsOfJob) job.push(text);
    else {
      jobs.push([text]);
      units = text.length;
    }
  }
  return jobs;
}

function cut(vectors: Float32Array, dimensions: number): Float32Array[] {
  return Array.from({ length: vectors.length / dimensions }, (_, index) =>
    vectors.subarray(index * dimensions, (index + 1) * dimensions),
  );
}
