import { BundledEmbedder } from '../../src/embedding/bundled.embedder.js';
import { embedAll } from '../../src/embedding/embedding-check.js';
import { median, rate, type BenchOptions, type BenchResult } from './bench.js';

/** As the embedding worker takes them. */
const batchSize = 16;
const batches = 3;

const roundsOf = ({ quick }: BenchOptions): number => (quick ? 1 : 5);

/** A thread of the model keeps a processor busy, so that a second one gains nothing where no processor is idle. */
export async function embeddingBench(options: BenchOptions): Promise<BenchResult[]> {
  const one = new BundledEmbedder({ workers: 1 });
  const two = new BundledEmbedder({ workers: 2 });
  try {
    return [
      await compared('questions of about 60 characters', question, one, two, roundsOf(options)),
      await compared('texts of about 400 characters', text, one, two, roundsOf(options)),
    ];
  } finally {
    await one.close();
    await two.close();
  }
}

async function compared(
  what: string,
  make: (index: number) => string,
  one: BundledEmbedder,
  two: BundledEmbedder,
  rounds: number,
): Promise<BenchResult> {
  const single: number[] = [];
  const double: number[] = [];
  // Round 0 loads the models and is not counted.
  for (let round = 0; round <= rounds; round++) {
    const texts = Array.from({ length: batches * batchSize }, (_, index) => make(round * 1_000 + index));
    const [slow, fast] = [await embedded(one, texts), await embedded(two, texts)];
    if (round === 0) continue;
    single.push(slow);
    double.push(fast);
  }
  const [value, baseline] = [median(double), median(single)];
  const name = `embedding ${what} in batches of ${batchSize}, 2 threads against 1`;
  return { name, unit: 'texts/s', value, baseline, ratio: value / baseline };
}

const embedded = (embedder: BundledEmbedder, texts: readonly string[]): Promise<number> =>
  rate(texts.length, async () => {
    for (let start = 0; start < texts.length; start += batchSize)
      await embedAll(embedder, texts.slice(start, start + batchSize), { timeoutMs: 120_000 });
  });

const question = (index: number): string => `How do I give customer ${index} the money back for order ${index * 7}?`;

const text = (index: number): string => Array.from({ length: 7 }, (_, part) => question(index * 100 + part)).join(' ');
