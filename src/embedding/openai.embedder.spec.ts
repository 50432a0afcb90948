import {
  answering,
  babbling,
  breakingOff,
  embeddings,
  failing,
  flooding,
  ModelServer,
  redirecting,
  resetting,
  silent,
  stalling,
  type Responder,
} from '../../test/support/model-server.js';
import { embedAll, embedOne } from './embedding-check.js';
import { DependencyUnavailable } from './errors.js';
import { largestBatch, OpenAiEmbedder } from './openai.embedder.js';

const text = 'the patient is called Ada';
const apiKey = 'sk-very-secret';
const vectorOf = (input: string) => [input.length, 1, 0.5];

describe('the embedder of an OpenAI-compatible endpoint', () => {
  let server: ModelServer;
  beforeAll(async () => (server = await ModelServer.start()));
  afterAll(() => server.stop());
  const embedder = (options: { url?: string; apiKey?: string | undefined; requestDimensions?: boolean } = {}) =>
    new OpenAiEmbedder({ url: server.url, model: 'small', apiKey, dimensions: 3, ...options });

  it('posts model and inputs with the key, and gives the vectors back', async () => {
    server.does(embeddings(vectorOf));
    expect(await embedOne(embedder(), text, { timeoutMs: 2_000 })).toEqual(Float32Array.of(text.length, 1, 0.5));
    expect(server.requests).toEqual([
      { path: '/v1/embeddings', authorization: `Bearer ${apiKey}`, body: { model: 'small', input: [text] } },
    ]);
    expect(embedder().contract).toEqual({ id: 'openai:small:3', dimensions: 3 });
  });

  it('asks for the dimensions only when told to, and sends no empty key', async () => {
    server.does(embeddings(vectorOf));
    await embedOne(embedder({ requestDimensions: true, apiKey: undefined }), text, { timeoutMs: 2_000 });
    expect(server.requests).toMatchObject([{ authorization: undefined, body: { dimensions: 3 } }]);
  });

  it('keeps path and query of the base URL', async () => {
    server.does(embeddings(vectorOf));
    await embedOne(embedder({ url: `${server.url}/team//?version=7` }), text, { timeoutMs: 2_000 });
    expect(server.requests[0]?.path).toBe('/v1/team/embeddings?version=7');
  });

  it('assigns vectors by their index, in whatever order they come', async () => {
    server.does(embeddings(vectorOf, (indexes) => indexes.reverse()));
    const vectors = await embedAll(embedder(), ['a', 'bb', 'ccc'], { timeoutMs: 2_000 });
    expect(vectors.map(([length]) => length)).toEqual([1, 2, 3]);
  });

  it(`sends at most ${largestBatch} inputs in a request`, async () => {
    server.does(embeddings(vectorOf));
    const texts = Array.from({ length: 2 * largestBatch + 1 }, (_, index) => 'x'.repeat(index + 1));
    const vectors = await embedAll(embedder(), texts, { timeoutMs: 5_000 });
    expect(vectors.map(([length]) => length)).toEqual(texts.map(({ length }) => length));
    expect(server.requests.map(({ body }) => (body.input as string[]).length)).toEqual([largestBatch, largestBatch, 1]);
  });

  it.each<[string, Responder, string]>([
    ['fails', failing(500), 'HTTP 500'],
    ['is overloaded', failing(429), 'HTTP 429'],
    ['refuses the request', failing(400), 'HTTP 400'],
    ['refuses the key', failing(401), 'HTTP 401'],
    ['does not know the model', failing(404), 'HTTP 404'],
    ['has no content', failing(203), 'HTTP 203'],
    ['never answers', silent, 'TimeoutError'],
    ['stops in the middle of its answer', stalling, 'TimeoutError'],
    ['resets the connection', resetting, 'UND_ERR_SOCKET'],
    ['breaks off its answer', breakingOff, 'UND_ERR_SOCKET'],
    ['does not stop to answer', flooding, 'answer too large'],
    ['answers no JSON', babbling(`<html>${text}`), 'malformed answer'],
    ['answers nothing', babbling(''), 'malformed answer'],
    ['answers null', answering(null), 'malformed answer'],
    ['answers something else', answering({ data: 'none' }), 'malformed answer'],
    ['answers no vector', answering({ data: [] }), 'malformed answer'],
    ['answers an empty place', answering({ data: [null] }), 'malformed answer'],
    [
      'answers a vector too many',
      answering({ data: [0, 1].map((index) => ({ index, embedding: [1, 2, 3] })) }),
      'malformed answer',
    ],
    ['answers a wrong index', answering({ data: [{ index: 1, embedding: [1, 2, 3] }] }), 'malformed answer'],
    ['answers base64', embeddings(() => 'AACAPw=='), 'malformed answer'],
    ['answers wrong dimensions', embeddings(() => [1, 2]), 'length: 2 instead of 3'],
    ['answers NaN as text', embeddings(() => ['NaN', 1, 1]), 'non-finite'],
    ['answers null in a vector', embeddings(() => [null, 1, 1]), 'non-finite'],
    ['answers zeros', embeddings(() => [0, 0, 0]), 'norm'],
    ['answers huge numbers', babbling('{"data": [{"index": 0, "embedding": [1e300, 1, 1]}]}'), 'norm'],
    ['answers numbers beyond range', babbling('{"data": [{"index": 0, "embedding": [1e999, 1, 1]}]}'), 'non-finite'],
  ])('is unavailable when the endpoint %s', async (_, responder, detail) => {
    server.does(responder);
    const failure: unknown = await embedOne(embedder(), text, { timeoutMs: 300 }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(DependencyUnavailable);
    expect(failure).toMatchObject({ code: 'embedding_unavailable', detail });
    expect([(failure as Error).message, JSON.stringify(failure), String((failure as Error).cause)].join()).not.toMatch(
      /Ada|sk-very-secret|cannot serve/,
    );
  });

  it('is unavailable when the two inputs of a request get the same index', async () => {
    server.does(answering({ data: [0, 0].map((index) => ({ index, embedding: [1, 2, 3] })) }));
    await expect(embedAll(embedder(), ['a', 'b'], { timeoutMs: 2_000 })).rejects.toMatchObject({ detail: 'malformed answer' });
  });

  it('does not follow a redirect, which would carry key and text elsewhere', async () => {
    const elsewhere = await ModelServer.start();
    elsewhere.does(embeddings(vectorOf));
    server.does(redirecting(`${elsewhere.url}/embeddings`));
    await expect(embedOne(embedder(), text, { timeoutMs: 2_000 })).rejects.toMatchObject({ detail: 'HTTP 307' });
    expect(elsewhere.requests).toEqual([]);
    await elsewhere.stop();
  });

  it('is unavailable when nobody listens', async () => {
    const gone = await ModelServer.start();
    const { url } = gone;
    await gone.stop();
    await expect(embedOne(embedder({ url }), text, { timeoutMs: 2_000 })).rejects.toMatchObject({ detail: 'ECONNREFUSED' });
  });

  it.each([
    ['before it answers', silent],
    ['in the middle of its answer', stalling],
  ])('hangs up on the endpoint when the caller gives up %s', async (_, responder) => {
    server.does(responder);
    const caller = new AbortController();
    const waiting = embedOne(embedder(), text, { timeoutMs: 5_000, signal: caller.signal });
    await until(() => server.requests.length === 1);
    caller.abort();
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
    await until(() => server.hangUps === 1);
  });
});

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}
