import fc from 'fast-check';
import { randomBytes, randomUUID } from 'node:crypto';
import { freshDatabase } from '../../test/support/database.js';
import {
  answering,
  babbling,
  embeddings,
  failing,
  later,
  ModelServer,
  resetting,
  silent,
  stalling,
  type ModelRequest,
  type Responder,
} from '../../test/support/model-server.js';
import { ProcedureVectors, type StoredQuestion } from '../../test/support/procedure-vectors.js';
import type { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { KeyDestroyer } from '../erasure/key-destroyer.js';
import { procedureDocuments } from './embedding-documents.js';
import { EmbeddingWorker, type EmbeddingWorkerOptions } from './embedding-worker.js';
import { OpenAiEmbedder } from './openai.embedder.js';

const vectorOf = (text: string) => [text.length, 1, 0.5];
const works = embeddings(vectorOf);
const inputOf = ({ body }: ModelRequest) => body.input as string[];
/** Meets requests with a text that the test does not like with this, and others as a model that works. */
const chokesOn =
  (dislikes: (text: string) => boolean, fault: Responder): Responder =>
  (request, response) =>
    (inputOf(request).some(dislikes) ? fault : works)(request, response);

describe('the embedding worker with a model server that has faults', () => {
  let database: Database;
  let keys: DataKeys;
  let vectors: ProcedureVectors;
  let server: ModelServer;
  let team: string;
  beforeAll(async () => {
    database = await freshDatabase();
    keys = new DataKeys(database, new MasterKey(randomBytes(32)));
    vectors = await ProcedureVectors.create(database);
    server = await ModelServer.start();
  });
  beforeEach(async () => {
    await vectors.clear();
    team = randomUUID();
  });
  afterAll(async () => {
    await server.stop();
    await database.close();
  });

  const worker = (options: Partial<EmbeddingWorkerOptions> = {}, url = server.url) =>
    new EmbeddingWorker({
      database,
      generator: new OpenAiEmbedder({ url, model: 'small', apiKey: undefined, dimensions: 3 }),
      keys,
      documents: [procedureDocuments],
      timeoutMs: 300,
      ...options,
    });

  async function stored(question: string): Promise<StoredQuestion> {
    const id = randomUUID();
    await keys.provision(team, [id]);
    return vectors.add(team, question, { id });
  }

  async function manyStored(count: number): Promise<StoredQuestion[]> {
    const questions: StoredQuestion[] = [];
    for (let index = 0; index < count; index += 1) questions.push(await stored(`question ${index}`));
    return questions;
  }

  const embeddingOf = async (question: StoredQuestion) => (await vectors.row(question))?.embedding;
  const documentTexts = () => server.requests.flatMap(inputOf).filter((text) => text !== 'memory');

  it.each<[string, Responder, string]>([
    ['resets connections', resetting, 'unreachable: UND_ERR_SOCKET'],
    ['does not answer in time', silent, 'timeout: TimeoutError'],
    ['stops in the middle of its answers', stalling, 'timeout: TimeoutError'],
    ['fails', failing(500), 'server_error: HTTP 500'],
    ['is overloaded', failing(429), 'rate_limited: HTTP 429'],
    ['refuses the key', failing(401), 'misconfigured: HTTP 401'],
    ['does not know the model', failing(404), 'misconfigured: HTTP 404'],
    ['refuses everything', failing(400), 'refused: HTTP 400'],
    ['talks', babbling('no JSON'), 'malformed_answer: malformed answer'],
    ['gives too few vectors', answering({ data: [] }), 'malformed_answer: malformed answer'],
    ['gives other dimensions', embeddings(() => [1, 2]), 'wrong_dimensions: length: 2 instead of 3'],
    ['gives null', embeddings(() => [null, 1, 1]), 'not_finite: non-finite'],
    ['gives text', embeddings(() => ['NaN', 1, 1]), 'not_finite: non-finite'],
    ['gives zeros', embeddings(() => [0, 0, 0]), 'zero_norm: norm'],
  ])('leaves all documents as they are while the server %s, and fills them afterwards', async (_, fault, description) => {
    const questions = await manyStored(20);
    server.does(fault);
    const filling = worker();
    const { outage } = await filling.fillOnce();
    expect(outage?.description).toBe(description);
    expect(server.requests.length).toBeLessThanOrEqual(2);
    for (const question of questions) expect(await vectors.row(question)).toMatchObject({ attempts: null, failure: null });
    server.does(works);
    while ((await filling.fillOnce()).filled > 0);
    for (const question of questions) expect(await embeddingOf(question)).toBe(`[${question.question.length},1,0.5]`);
    expect(documentTexts().sort()).toEqual(questions.map(({ question }) => question).sort());
  });

  it('leaves them as they are while nobody listens', async () => {
    const [question] = await manyStored(1);
    const gone = await ModelServer.start();
    const { url } = gone;
    await gone.stop();
    expect((await worker({}, url).fillOnce()).outage?.description).toBe('unreachable: ECONNREFUSED');
    expect(await vectors.row(question as StoredQuestion)).toMatchObject({ attempts: null, embedding: null });
  });

  it.each<[string, Responder, string]>([
    ['refuses', failing(422), 'refused: HTTP 422'],
    ['fails on', failing(500), 'server_error: HTTP 500'],
    ['forbids, as a firewall that reads along does,', failing(403), 'misconfigured: HTTP 403'],
    ['hangs on', silent, 'timeout: TimeoutError'],
    ['breaks on', resetting, 'unreachable: UND_ERR_SOCKET'],
  ])('loses only the one of 64 texts that the server %s', async (_, fault, failure) => {
    const questions = await manyStored(64);
    server.does(chokesOn((text) => text === 'question 37', fault));
    const filling = worker({ batchSize: 64 });
    expect(await filling.fillOnce()).toMatchObject({ found: 64, filled: 63, failed: 1, outage: undefined });
    expect(await vectors.row(questions[37] as StoredQuestion)).toMatchObject({ failure, attempts: 1, embedding: null });
    expect(await filling.status()).toMatchObject({ pending: 1, failed: 1, oldestUntriedSeconds: null });
  });

  it.each<[string, unknown[], string]>([
    ['NaN', ['NaN', 1, 1], 'not_finite: non-finite'],
    ['null', [null, 1, 1], 'not_finite: non-finite'],
    ['zeros', [0, 0, 0], 'zero_norm: norm'],
    ['other dimensions', [1, 2], 'wrong_dimensions: length: 2 instead of 3'],
  ])('loses only the one of 64 texts for which it gives %s, in one call', async (_, vector, failure) => {
    const questions = await manyStored(64);
    server.does(embeddings((text) => (text === 'question 37' ? vector : vectorOf(text))));
    expect(await worker({ batchSize: 64 }).fillOnce()).toMatchObject({ filled: 63, failed: 1 });
    expect(await vectors.row(questions[37] as StoredQuestion)).toMatchObject({ failure });
    expect(server.requests).toHaveLength(1);
  });

  it('takes batches that are too large for the server in halves', async () => {
    await manyStored(16);
    server.does((request, response) => (inputOf(request).length > 4 ? failing(413) : works)(request, response));
    expect(await worker().fillOnce()).toMatchObject({ filled: 16, failed: 0 });
  });

  it('waits as long as an overloaded server asks for, whoever wakes it', async () => {
    const [question] = await manyStored(1);
    server.does(failing(429, { 'retry-after': '2' }));
    const running = worker({ outageMs: { first: 1, longest: 1 } });
    const started = performance.now();
    running.start();
    try {
      while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
      server.does(works);
      while ((await embeddingOf(question as StoredQuestion)) === null) {
        running.wake();
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      expect(performance.now() - started).toBeGreaterThan(1_900);
    } finally {
      await running.stop();
    }
  });

  it('loses nothing when it is stopped in the middle and another begins', async () => {
    const questions = await manyStored(40);
    server.does(later(30, works));
    const first = worker();
    first.start();
    while ((await first.status()).pending === 40) await new Promise((resolve) => setTimeout(resolve, 5));
    await first.stop();
    const left = (await worker().status()).pending;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(40);
    server.does(works);
    const second = worker();
    while ((await second.fillOnce()).filled > 0);
    expect(documentTexts()).toHaveLength(left);
    for (const question of questions) expect(await embeddingOf(question)).not.toBeNull();
  });

  it('asks the model nothing when nothing has changed', async () => {
    await manyStored(20);
    server.does(works);
    const filling = worker();
    while ((await filling.fillOnce()).filled > 0);
    expect(documentTexts()).toHaveLength(20);
    server.does(works);
    for (let round = 0; round < 3; round += 1) await worker().fillOnce();
    await filling.fillOnce();
    expect(server.requests).toEqual([]);
  });

  describe('whatever fails, and whatever is erased meanwhile', () => {
    const faults: Readonly<Record<string, Responder>> = {
      fails: failing(500),
      overloaded: failing(429),
      refuses: failing(400),
      resets: resetting,
      hangs: silent,
      talks: babbling('?'),
      few: answering({ data: [] }),
      zeros: embeddings(() => [0, 0, 0]),
      wrong: embeddings(() => [1]),
    };
    const poisons: readonly Responder[] = [
      failing(500),
      failing(422),
      embeddings((text) => (text.startsWith('poison') ? [0, 0, 0] : vectorOf(text))),
    ];
    const plan = fc.record({
      // Few different texts, so that some are equal.
      documents: fc.array(fc.record({ text: fc.nat(5), poison: fc.boolean(), erasedAt: fc.option(fc.nat(6)) }), {
        minLength: 1,
        maxLength: 10,
      }),
      schedule: fc.array(fc.constantFrom('works', ...Object.keys(faults)), { maxLength: 8 }),
      poison: fc.nat(poisons.length - 1),
    });

    it('in the end every good document has its vector once, and nothing of an erased one is left', async () => {
      const destroyer = new KeyDestroyer(database, keys);
      await fc.assert(
        fc.asyncProperty(plan, async ({ documents, schedule, poison }) => {
          await vectors.clear();
          const all: { question: StoredQuestion; poison: boolean; erasedAt: number | null }[] = [];
          for (const { text, poison, erasedAt } of documents)
            all.push({ question: await stored(`${poison ? 'poison' : 'good'} ${text}`), poison, erasedAt });
          let call = 0;
          const answer = chokesOn((text) => text.startsWith('poison'), poisons[poison] as Responder);
          server.does((request, response) => {
            const now = call++;
            const erasures = all.filter(({ erasedAt }) => erasedAt === now).map(({ question }) => erased(destroyer, question));
            void Promise.all(erasures).then(() => (faults[schedule[now] ?? ''] ?? answer)(request, response));
          });
          const filling = worker({ timeoutMs: 200 });
          for (let calm = 0; calm < 2;) {
            const { found, filled, outage } = await filling.fillOnce();
            const settled = call >= schedule.length || found === 0;
            calm = settled && filled === 0 && !outage ? calm + 1 : 0;
            await vectors.letRetry();
          }
          const cached = await vectors.cached();
          for (const { question, poison, erasedAt } of all) {
            const row = await vectors.row(question);
            if (erasedAt !== null && erasedAt < call) {
              expect([row, cached[question.id]]).toEqual([undefined, undefined]);
            } else if (poison) {
              expect(row).toMatchObject({ embedding: null, failure: expect.any(String) as string });
              expect(cached[question.id]).toBeUndefined();
            } else {
              expect(row).toMatchObject({ embedding: `[${question.question.length},1,0.5]`, attempts: null, failure: null });
              expect(cached[question.id]).toBe(1);
            }
          }
        }),
        { numRuns: 40 },
      );
    }, 180_000);

    /** As it happens: the key and the cache first, the rows when the projection comes to it. */
    async function erased(destroyer: KeyDestroyer, question: StoredQuestion): Promise<void> {
      await destroyer.destroy(question.team, question.id);
      await vectors.erase(question);
    }
  });
});
