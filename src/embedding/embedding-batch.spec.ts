import fc from 'fast-check';
import { embedBatch } from './embedding-batch.js';
import { EmbeddingGenerator } from './embedding-generator.js';

/** Fails every batch that holds a text it does not like. */
class Picky extends EmbeddingGenerator {
  readonly contract = { id: 'test:2', dimensions: 2 };
  calls = 0;

  constructor(private readonly dislikes: (text: string) => boolean) {
    super();
  }

  embed(texts: readonly string[]): Promise<number[][]> {
    this.calls += 1;
    if (texts.some(this.dislikes)) return Promise.reject(new RangeError('disliked'));
    return Promise.resolve(texts.map((text) => [Number(text) + 1, 1]));
  }
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const wait = { timeoutMs: 1_000 };

describe('embedding a batch', () => {
  it('asks once when all is well', async () => {
    const generator = new Picky(() => false);
    const { vectors, failures } = await embedBatch(generator, texts(16), wait);
    expect(generator.calls).toBe(1);
    expect([...vectors].map(([index, vector]) => vector[0] === index + 1)).toEqual(Array(16).fill(true));
    expect(failures.size).toBe(0);
  });

  it('loses one bad text and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.nat(), async (count, seed) => {
        const bad = seed % count;
        const { vectors, failures } = await embedBatch(new Picky((text) => text === String(bad)), texts(count), wait);
        expect([...failures]).toEqual([[bad, 'RangeError']]);
        expect([...vectors.keys()].sort((a, b) => a - b)).toEqual(
          texts(count)
            .map(Number)
            .filter((index) => index !== bad),
        );
      }),
    );
  });

  it('finds bad texts that stand apart', async () => {
    const { vectors, failures } = await embedBatch(new Picky((text) => ['3', '9'].includes(text)), texts(16), wait);
    expect([...failures.keys()]).toEqual([3, 9]);
    expect(vectors.size).toBe(14);
  });

  it('stops after two texts in a row, because the model is down', async () => {
    const generator = new Picky(() => true);
    const { vectors, failures } = await embedBatch(generator, texts(16), wait);
    expect([...failures.keys()]).toEqual([0, 1]);
    expect(vectors.size).toBe(0);
    expect(generator.calls).toBe(6);
  });

  it('ends with the caller’s abort', async () => {
    const caller = new AbortController();
    const generator = new Picky(() => {
      caller.abort();
      return true;
    });
    await expect(embedBatch(generator, texts(16), { ...wait, signal: caller.signal })).rejects.toMatchObject({
      name: 'AbortError',
    });
    expect(generator.calls).toBe(1);
  });
});
