import fc from 'fast-check';
import { embedBatch } from './embedding-batch.js';
import { EmbeddingGenerator } from './embedding-generator.js';
import { EmbeddingUnavailable } from './errors.js';

/** Fails every batch that holds a text it does not like. */
class Picky extends EmbeddingGenerator {
  readonly contract = { id: 'test:2', dimensions: 2 };
  calls = 0;

  constructor(
    private readonly dislikes: (text: string) => boolean,
    private readonly vectorOf: (text: string) => number[] = (text) => [1, text === 'memory' ? 1 : Number(text) + 1],
    private readonly failure: Error = new RangeError('disliked'),
  ) {
    super();
  }

  embed(texts: readonly string[]): Promise<number[][]> {
    this.calls += 1;
    if (texts.some(this.dislikes)) return Promise.reject(this.failure);
    return Promise.resolve(texts.map(this.vectorOf));
  }
}

const texts = (count: number) => Array.from({ length: count }, (_, index) => String(index));
const wait = { timeoutMs: 1_000 };

describe('embedding a batch', () => {
  it('asks once when all is well', async () => {
    const generator = new Picky(() => false);
    const { vectors, failures } = await embedBatch(generator, texts(16), wait);
    expect(generator.calls).toBe(1);
    expect([...vectors].map(([index, vector]) => vector[1] === index + 1)).toEqual(Array(16).fill(true));
    expect(failures.size).toBe(0);
  });

  it('loses one bad text and no other', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 40 }), fc.nat(), async (count, seed) => {
        const bad = seed % count;
        const { vectors, failures, outage } = await embedBatch(new Picky((text) => text === String(bad)), texts(count), wait);
        expect([...failures].map(([index, { description }]) => [index, description])).toEqual([
          [bad, 'adapter_error: RangeError'],
        ]);
        expect([...vectors.keys()].sort((a, b) => a - b)).toEqual(
          texts(count)
            .map(Number)
            .filter((index) => index !== bad),
        );
        expect(outage).toBeUndefined();
      }),
    );
  });

  it('finds bad texts wherever they stand, all of them bad too', async () => {
    const { vectors, failures } = await embedBatch(new Picky((text) => ['3', '4', '5', '9'].includes(text)), texts(16), wait);
    expect([...failures.keys()]).toEqual([3, 4, 5, 9]);
    expect(vectors.size).toBe(12);
    const all = await embedBatch(new Picky((text) => text !== 'memory'), texts(5), wait);
    expect([...all.failures.keys()]).toEqual([0, 1, 2, 3, 4]);
  });

  it('blames nobody when the model is down, and asks it once more only', async () => {
    const generator = new Picky(() => true);
    const { vectors, failures, outage } = await embedBatch(generator, texts(16), wait);
    expect([failures.size, vectors.size, outage?.description]).toEqual([0, 0, 'adapter_error: RangeError']);
    expect(generator.calls).toBe(2);
  });

  it('blames nobody when the model goes down in the middle', async () => {
    const generator: Picky = new Picky((text) => text === '3' || generator.calls > 4);
    const { failures, outage } = await embedBatch(generator, texts(16), wait);
    expect(failures.size).toBe(0);
    expect(outage).toBeDefined();
  });

  it('takes the good vectors of a call that brings bad ones too, without another call', async () => {
    const generator = new Picky(
      () => false,
      (text) => (text === '5' ? [0, 0] : [1, Number(text) + 1]),
    );
    const { vectors, failures } = await embedBatch(generator, texts(16), wait);
    expect(generator.calls).toBe(1);
    expect([...failures.values()].map(({ reason }) => reason)).toEqual(['zero_norm']);
    expect(vectors.size).toBe(15);
  });

  it('takes a model that makes only bad vectors for one that is down', async () => {
    const { failures, outage } = await embedBatch(
      new Picky(
        () => false,
        () => [1],
      ),
      texts(16),
      wait,
    );
    expect([failures.size, outage?.reason]).toEqual([0, 'wrong_dimensions']);
  });

  it('leaves an endpoint alone that asks for it', async () => {
    const generator = new Picky(() => true, undefined, new EmbeddingUnavailable('rate_limited', 'HTTP 429', 5_000));
    const { outage } = await embedBatch(generator, texts(16), wait);
    expect(generator.calls).toBe(1);
    expect(outage).toMatchObject({ reason: 'rate_limited', retryAfterMs: 5_000 });
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
