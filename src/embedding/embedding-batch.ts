import type { Wait } from './deadline.js';
import { embedEach, embedOne } from './embedding-check.js';
import type { EmbeddingGenerator } from './embedding-generator.js';
import { EmbeddingUnavailable } from './errors.js';

/** What became of the texts of a batch, by their index. Of an index in neither map nothing is known. */
export interface BatchOutcome {
  readonly vectors: ReadonlyMap<number, Float32Array>;
  /** Texts that are at fault themselves: the model answers others. */
  readonly failures: ReadonlyMap<number, EmbeddingUnavailable>;
  /** Why the rest was not tried: the model answers nothing at present. */
  readonly outage: EmbeddingUnavailable | undefined;
}

/** A word that any model can embed. */
const testText = 'memory';

/** Asks for the vector of a word of ours. @returns why there is none; undefined when the model works */
export async function outageOf(generator: EmbeddingGenerator, wait: Wait): Promise<EmbeddingUnavailable | undefined> {
  try {
    await embedOne(generator, testText, wait);
    return undefined;
  } catch (error) {
    if (error instanceof EmbeddingUnavailable) return error;
    throw error;
  }
}

/**
 * Embeds a batch so that one bad text costs only itself: a batch that fails is halved until the bad text stands alone.
 *
 * Whether a text or the model is at fault cannot be seen from an error: servers answer 500, 403 or nothing to a text they
 * choke on. So whenever a call fails, the model is asked for a word of ours. If that fails too, the model is down, nobody is
 * blamed, and the batch ends.
 *
 * @throws DOMException `AbortError` when the signal fires
 */
export async function embedBatch(generator: EmbeddingGenerator, texts: readonly string[], wait: Wait): Promise<BatchOutcome> {
  const batch = new Batch(generator, texts, wait);
  await batch.embed(0, texts.length);
  return batch;
}

class Batch implements BatchOutcome {
  readonly vectors = new Map<number, Float32Array>();
  readonly failures = new Map<number, EmbeddingUnavailable>();
  outage: EmbeddingUnavailable | undefined;

  constructor(
    private readonly generator: EmbeddingGenerator,
    private readonly texts: readonly string[],
    private readonly wait: Wait,
  ) {}

  async embed(start: number, end: number): Promise<void> {
    if (this.outage || start === end) return;
    const made = await this.call(start, end);
    if (!(made instanceof EmbeddingUnavailable)) return this.sort(start, made);
    if (!(await this.modelWorks(made))) return;
    if (end - start === 1) {
      this.failures.set(start, made);
      return;
    }
    const middle = Math.ceil((start + end) / 2);
    await this.embed(start, middle);
    await this.embed(middle, end);
  }

  private async call(start: number, end: number): Promise<(Float32Array | EmbeddingUnavailable)[] | EmbeddingUnavailable> {
    try {
      return await embedEach(this.generator, this.texts.slice(start, end), this.wait);
    } catch (error) {
      if (error instanceof EmbeddingUnavailable) return error;
      throw error;
    }
  }

  /** A model that gave one usable vector works; one that gave none is asked for its word first. */
  private async sort(start: number, made: readonly (Float32Array | EmbeddingUnavailable)[]): Promise<void> {
    const bad = made.find((each) => each instanceof EmbeddingUnavailable);
    const allBad = made.every((each) => each instanceof EmbeddingUnavailable);
    if (bad && allBad && !(await this.modelWorks(bad))) return;
    made.forEach((each, offset) => {
      if (each instanceof EmbeddingUnavailable) this.failures.set(start + offset, each);
      else this.vectors.set(start + offset, each);
    });
  }

  private async modelWorks(failure: EmbeddingUnavailable): Promise<boolean> {
    // An endpoint that asks to be left alone is left alone.
    const asksForPatience = failure.reason === 'rate_limited' || failure.retryAfterMs !== undefined;
    this.outage = asksForPatience ? failure : await outageOf(this.generator, this.wait);
    return this.outage === undefined;
  }
}
