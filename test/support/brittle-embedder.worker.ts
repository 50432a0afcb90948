import { parentPort } from 'node:worker_threads';
import { bundledContract, type EmbedMessage, type EmbedReply } from '../../src/embedding/bundled-model.js';

/** A thread of the bundled embedder whose texts say how it fails. Others get a vector of their length, after 20 ms. */
parentPort?.on('message', ({ texts }: EmbedMessage) => {
  if (texts.includes('crash')) throw new RangeError('out of memory');
  if (texts.includes('exit')) process.exit(3);
  if (texts.includes('hang')) return;
  if (texts.includes('fail')) return reply({ failure: 'TypeError' });
  const vectors = new Float32Array(texts.length * bundledContract.dimensions);
  texts.forEach((text, index) =>
    vectors.fill(text.length, index * bundledContract.dimensions, (index + 1) * bundledContract.dimensions),
  );
  setTimeout(() => reply({ vectors }), 20);
});

const reply = (message: EmbedReply): void => parentPort?.postMessage(message);
