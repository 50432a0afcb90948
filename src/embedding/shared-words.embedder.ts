import { EmbeddingGenerator, type EmbeddingContract } from './embedding-generator.js';

const dimensions = 1_024;
const word = /[\p{L}\p{M}\p{N}]+/gu;

/**
 * Word-count vectors: every word of the text adds 1 to the dimension its hash falls into, so that the cosine of two texts
 * says which share of their words is the same. For tests and the demo: no model, no meaning, the same numbers everywhere.
 *
 * Words are runs of letters, marks and digits, case folded. Different words may share a dimension (1,024 of them); the
 * words of our golden values do not. A text without any word (`???`) counts as one word, itself: a zero vector would be
 * unusable, and only the same text should match it.
 */
export class SharedWordsEmbedder extends EmbeddingGenerator {
  readonly contract: EmbeddingContract = { id: `shared-words:${dimensions}`, dimensions };

  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[]> {
    return signal.aborted ? Promise.reject(signal.reason as Error) : Promise.resolve(texts.map(countWords));
  }
}

function countWords(text: string): Float32Array {
  const folded = text.normalize('NFKC').toLowerCase();
  const vector = new Float32Array(dimensions);
  for (const found of folded.match(word) ?? [folded]) {
    const dimension = hash(found) % dimensions;
    vector[dimension] = (vector[dimension] ?? 0) + 1;
  }
  return vector;
}

/** FNV-1a, 32 bits, over UTF-16 units: http://www.isthe.com/chongo/tech/comp/fnv/ */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return value;
}
