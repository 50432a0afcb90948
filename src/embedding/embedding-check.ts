import { aborted, withDeadline, type Wait } from './deadline.js';
import type { EmbeddingGenerator } from './embedding-generator.js';
import { EmbeddingUnavailable, embeddingUnavailable } from './errors.js';

/** Not one vector a text. */
const noVector = () => new EmbeddingUnavailable('malformed_answer', undefined);

/**
 * The vector as the database stores it, in single precision.
 *
 * @throws EmbeddingUnavailable whose detail is the reason alone: `length: 3 instead of 512`, `non-finite`, or `norm` for a
 *   zero norm and for one whose squares overflow
 */
export function checkEmbedding(vector: ArrayLike<number>, dimensions: number): Float32Array {
  if (vector.length !== dimensions)
    throw new EmbeddingUnavailable('wrong_dimensions', `length: ${vector.length} instead of ${dimensions}`);
  // pgvector adds up squares in single precision: a sum that is 0 or infinite there makes every cosine NaN.
  let squares = 0;
  for (let index = 0; index < dimensions; index += 1) {
    const value = vector[index];
    if (!Number.isFinite(value)) throw new EmbeddingUnavailable('not_finite', 'non-finite');
    const single = Math.fround(value ?? 0);
    squares = Math.fround(squares + Math.fround(single * single));
  }
  if (squares === 0 || squares === Infinity) throw new EmbeddingUnavailable('zero_norm', 'norm');
  return Float32Array.from(vector);
}

/** @see embedAll */
export async function embedOne(generator: EmbeddingGenerator, text: string, wait: Wait): Promise<Float32Array> {
  const [vector] = await embedAll(generator, [text], wait);
  if (!vector) throw noVector();
  return vector;
}

/**
 * One checked vector per text, in the same order.
 *
 * @throws EmbeddingUnavailable when the generator throws, exceeds the timeout, returns nothing or an unusable vector; of an
 *   exception that is not ours the detail names only the type
 * @throws DOMException `AbortError` when the caller's own signal fires
 */
export async function embedAll(generator: EmbeddingGenerator, texts: readonly string[], wait: Wait): Promise<Float32Array[]> {
  return (await embedEach(generator, texts, wait)).map((made) => {
    if (made instanceof EmbeddingUnavailable) throw made;
    return made;
  });
}

/**
 * The same, but a vector that cannot be used stands in the place of its text as the reason why, and the others are there.
 *
 * @throws EmbeddingUnavailable when there is no vector of any; see `embedAll` for the rest
 */
export async function embedEach(
  generator: EmbeddingGenerator,
  texts: readonly string[],
  wait: Wait,
): Promise<(Float32Array | EmbeddingUnavailable)[]> {
  if (texts.length === 0) return [];
  const vectors = await generated(generator, texts, wait);
  if (!Array.isArray(vectors) || vectors.length !== texts.length) throw noVector();
  return vectors.map((vector: unknown) => checked(vector, generator.contract.dimensions));
}

function checked(vector: unknown, dimensions: number): Float32Array | EmbeddingUnavailable {
  if (!isVector(vector)) return noVector();
  try {
    return checkEmbedding(vector, dimensions);
  } catch (error) {
    if (error instanceof EmbeddingUnavailable) return error;
    throw error;
  }
}

async function generated(generator: EmbeddingGenerator, texts: readonly string[], wait: Wait): Promise<unknown> {
  try {
    return await withDeadline((signal) => generator.embed(texts, signal), wait);
  } catch (error) {
    if (wait.signal?.aborted) throw aborted();
    throw embeddingUnavailable(error);
  }
}

const isVector = (value: unknown): value is ArrayLike<number> =>
  typeof value === 'object' && value !== null && typeof (value as { length?: unknown }).length === 'number';
