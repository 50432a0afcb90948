import { checkEmbedding, embedAll, embedOne } from './embedding-check.js';
import { EmbeddingGenerator } from './embedding-generator.js';
import { DependencyUnavailable } from './errors.js';

const secret = 'the patient is called Ada';

/** A generator of three dimensions that does what the test says. */
class Generator extends EmbeddingGenerator {
  readonly contract = { id: 'test:3', dimensions: 3 };
  signal: AbortSignal | undefined;

  constructor(private readonly answer: (texts: readonly string[]) => unknown) {
    super();
  }

  embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    this.signal = signal;
    return this.answer(texts) as Promise<number[][]>;
  }
}

class QuotaSpent extends Error {}

const never = () => new Promise(() => undefined);
const unavailable = (detail: string | undefined) => ({ code: 'embedding_unavailable', detail });

function failureOf(vector: number[]): unknown {
  try {
    return checkEmbedding(vector, 3);
  } catch (error) {
    return error;
  }
}

describe('an embedding', () => {
  it('is usable when it has the dimensions, is finite and has a norm', () => {
    expect(checkEmbedding([0, 0.5, -2], 3)).toEqual(Float32Array.of(0, 0.5, -2));
  });

  it.each([
    ['too short', [1, 2], 'length: 2 instead of 3'],
    ['too long', [1, 2, 3, 4], 'length: 4 instead of 3'],
    ['empty', [], 'length: 0 instead of 3'],
    ['not a number', [1, NaN, 3], 'non-finite'],
    ['infinite', [1, -Infinity, 3], 'non-finite'],
    ['all zero', [0, 0, 0], 'norm'],
    ['so large that its squares overflow', [1e200, 0, 0], 'norm'],
    ['so large that its squares overflow in single precision', [2e19, 0, 0], 'norm'],
    ['so small that its squares vanish in single precision', [1e-30, 0, 0], 'norm'],
  ])('is unavailable when it is %s', (_, vector, detail) => {
    expect(failureOf(vector)).toMatchObject(unavailable(detail));
  });

  it('is unavailable when its values are text or null, as a server may send them', () => {
    expect(failureOf(JSON.parse('["NaN", null, 1]') as number[])).toMatchObject(unavailable('non-finite'));
  });
});

describe('asking a generator', () => {
  const embed = (answer: (texts: readonly string[]) => unknown, signal?: AbortSignal) =>
    embedOne(new Generator(answer), secret, { timeoutMs: 50, signal });

  it('gives one vector per text, in order', async () => {
    const generator = new Generator((texts) => Promise.resolve(texts.map((text) => [text.length, 1, 1])));
    expect(await embedAll(generator, ['a', 'bcd'], { timeoutMs: 50 })).toEqual([
      Float32Array.of(1, 1, 1),
      Float32Array.of(3, 1, 1),
    ]);
    expect(await embedAll(generator, [], { timeoutMs: 50 })).toEqual([]);
  });

  it.each([
    ['throws', () => Promise.reject(new QuotaSpent(secret)), 'QuotaSpent'],
    [
      'throws before it returns',
      () => {
        throw new QuotaSpent(secret);
      },
      'QuotaSpent',
    ],
    ['throws what is no error', () => Promise.reject(secret as unknown as Error), 'string'],
    ['throws an error that names itself', () => Promise.reject(Object.assign(new Error(secret), { name: secret })), 'Error'],
    ['cancels by itself', () => Promise.reject(new DOMException(secret, 'AbortError')), 'AbortError'],
    ['times out and ignores the signal', never, 'TimeoutError'],
    ['says that it is down', () => Promise.reject(new DependencyUnavailable('embedding_unavailable', 'HTTP 503')), 'HTTP 503'],
    ['returns nothing', () => Promise.resolve(undefined), undefined],
    ['returns no vector', () => Promise.resolve([]), undefined],
    ['returns an empty place', () => Promise.resolve([null]), undefined],
    [
      'returns a vector too many',
      () =>
        Promise.resolve([
          [1, 2, 3],
          [1, 2, 3],
        ]),
      undefined,
    ],
    ['returns an unusable vector', () => Promise.resolve([[0, 0, 0]]), 'norm'],
  ] as const)('is unavailable when it %s', async (_, answer, detail) => {
    const failure: unknown = await embed(answer).catch((error: unknown) => error);
    expect(failure).toMatchObject(unavailable(detail));
    expect(failure).toBeInstanceOf(DependencyUnavailable);
    expect(JSON.stringify([failure, (failure as Error).message])).not.toContain('Ada');
  });

  it('passes on a signal that fires when the time is over', async () => {
    const generator = new Generator(never);
    await expect(embedOne(generator, secret, { timeoutMs: 20 })).rejects.toThrow(DependencyUnavailable);
    expect(generator.signal?.aborted).toBe(true);
  });

  it('is the caller’s abort, not the model’s failure, when the caller’s own signal fires', async () => {
    const caller = new AbortController();
    const waiting = embed(never, caller.signal);
    caller.abort(new Error('any reason'));
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('is the caller’s abort even when the generator throws because of it', async () => {
    const caller = new AbortController();
    const waiting = embed(() => {
      caller.abort();
      return Promise.reject(new QuotaSpent());
    }, caller.signal);
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('does not ask when the caller’s signal has fired before', async () => {
    let asked = false;
    const waiting = embed(() => {
      asked = true;
      return Promise.resolve([[1, 2, 3]]);
    }, AbortSignal.abort());
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    expect(asked).toBe(false);
  });
});
