export {
  AdapterDefect,
  DependencyUnavailable,
  EmbeddingUnavailable,
  isAdapterDefect,
  isDependencyUnavailable,
  type DependencyCode,
} from './errors.js';

/** What makes vectors comparable: two vectors belong together only when their contracts are equal. */
export interface EmbeddingContract {
  /** Adapter, model and dimensions, for example `bundled:use-lite-en:512`. Stored beside every vector. */
  readonly id: string;
  readonly dimensions: number;
}

/**
 * Turns texts into vectors. The port; callers use `embedOne` and `embedAll`, which add the timeout and check the vectors.
 */
export abstract class EmbeddingGenerator {
  abstract readonly contract: EmbeddingContract;

  /**
   * One vector per text, in the same order, each of `contract.dimensions` finite numbers and not all zero.
   *
   * @param signal stops the work; the caller stops waiting either way
   * @throws EmbeddingUnavailable when the model is down; every other exception counts as that too
   */
  abstract embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[] | number[][]>;

  /** Releases threads and connections. Embedding afterwards fails as unavailable. */
  close(): Promise<void> {
    return Promise.resolve();
  }
}
