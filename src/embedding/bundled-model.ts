import type { EmbeddingContract } from './embedding-generator.js';

/** Universal Sentence Encoder Lite, English. The id says also how texts are cut into pieces and put together: change both. */
export const bundledContract: EmbeddingContract = { id: 'bundled:use-lite-en:512', dimensions: 512 };

/** What a thread is asked: the vectors of these texts. It answers before it is asked again. */
export interface EmbedMessage {
  readonly texts: readonly string[];
}

export type EmbedReply =
  /** One vector after the other. */
  | { readonly vectors: Float32Array<ArrayBuffer> }
  /** Name of the exception's type. */
  | { readonly failure: string };
