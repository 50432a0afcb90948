import { embedAll } from './embedding-check.js';
import type { Wait } from './deadline.js';
import type { EmbeddingGenerator } from './embedding-generator.js';
import { isDependencyUnavailable } from './errors.js';

/** What became of the texts of a batch, by their index. An index in neither map was not tried. */
export interface BatchOutcome {
  readonly vectors: ReadonlyMap<number, Float32Array>;
  /** Why a text failed on its own: detail of the failure, never content. */
  readonly failures: ReadonlyMap<number, string>;
}

/** So many texts in a row that fail on their own are no coincidence: the model is down, and the rest is not tried. */
const failuresInARow = 2;

/**
 * Embeds a batch so that one bad text costs only itself: a batch that fails is halved until the bad text stands alone.
 * When the model is down, that ends after a handful of calls instead of two per text.
 *
 * @throws DOMException `AbortError` when the signal fires
 */
export async function embedBatch(generator: EmbeddingGenerator, texts: readonly string[], wait: Wait): Promise<BatchOutcome> {
  const vectors = new Map<number, Float32Array>();
  const failures = new Map<number, string>();
  let inARow = 0;

  const embedRange = async (start: number, end: number): Promise<void> => {
    if (inARow >= failuresInARow || start === end) return;
    try {
      const made = await embedAll(generator, texts.slice(start, end), wait);
      made.forEach((vector, offset) => vectors.set(start + offset, vector));
      inARow = 0;
    } catch (error) {
      if (!isDependencyUnavailable(error)) throw error;
      if (end - start === 1) {
        failures.set(start, error.detail ?? 'no vector');
        inARow += 1;
        return;
      }
      const middle = Math.ceil((start + end) / 2);
      await embedRange(start, middle);
      await embedRange(middle, end);
    }
  };

  await embedRange(0, texts.length);
  return { vectors, failures };
}
