import { aborted, withDeadline, type Wait } from './deadline.js';
import type { EmbeddingGenerator } from './embedding-generator.js';
import { DependencyUnavailable, exceptionType } from './errors.js';

const unavailable = (detail?: string) => new DependencyUnavailable('embedding_unavailable', detail);

/**
 * The vector as the database stores it, in single precision.
 *
 * @throws DependencyUnavailable whose detail is the reason alone: `length: 3 instead of 512`, `non-finite`, or `norm` for a
 *   zero norm and for one whose squares overflow
 */
export function checkEmbedding(vector: ArrayLike<number>, dimensions: number): Float32Array {
  if (vector.length !== dimensions) throw unavailable(`length: ${vector.length} instead of ${dimensions}`);
  // pgvector adds up squares in single precision: a sum that is 0 or infinite there makes every cosine NaN.
  let squares = 0;
  for (let index = 0; index < dimensions; index += 1) {
    const value = vector[index];
    if (!Number.isFinite(value)) throw unavailable('non-finite');
    const single = Math.fround(value ?? 0);
    squares = Math.fround(squares + Math.fround(single * single));
  }
  if (squares === 0 || squares === Infinity) throw unavailable('norm');
  return Float32Array.from(vector);
}

/** @see embedAll */
export async function embedOne(generator: EmbeddingGenerator, text: string, wait: Wait): Promise<Float32Array> {
  const [vector] = await embedAll(generator, [text], wait);
  if (!vector) throw unavailable();
  return vector;
}

/**
 * One checked vector per text, in the same order.
 *
 * @throws DependencyUnavailable (`embedding_unavailable`) when the generator throws, exceeds the timeout, returns nothing or
 *   an unusable vector; of an exception that is not ours the detail names only the type
 * @throws DOMException `AbortError` when the caller's own signal fires
 */
export async function embedAll(generator: EmbeddingGenerator, texts: readonly string[], wait: Wait): Promise<Float32Array[]> {
  if (texts.length === 0) return [];
  const vectors = await generated(generator, texts, wait);
  if (!Array.isArray(vectors) || vectors.length !== texts.length) throw unavailable();
  return vectors.map((vector) => {
    if (!isVector(vector)) throw unavailable();
    return checkEmbedding(vector, generator.contract.dimensions);
  });
}

async function generated(generator: EmbeddingGenerator, texts: readonly string[], wait: Wait): Promise<unknown> {
  try {
    return await withDeadline((signal) => generator.embed(texts, signal), wait);
  } catch (error) {
    if (wait.signal?.aborted) throw aborted();
    throw error instanceof DependencyUnavailable ? error : unavailable(exceptionType(error));
  }
}

const isVector = (value: unknown): value is ArrayLike<number> =>
  typeof value === 'object' && value !== null && typeof (value as { length?: unknown }).length === 'number';
