import { randomBytes, randomUUID } from 'node:crypto';
import { freshDatabase } from '../../test/support/database.js';
import { ProcedureVectors, type StoredQuestion } from '../../test/support/procedure-vectors.js';
import type { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { MasterKey } from '../encryption/master-key.js';
import { procedureDocuments } from './embedding-documents.js';
import { EmbeddingGenerator } from './embedding-generator.js';
import { EmbeddingWorker, type EmbeddingWorkerOptions } from './embedding-worker.js';

/** Gives a text's length as vector, or does what the test says; answers the worker's own question whether it works. */
class Lengths extends EmbeddingGenerator {
  readonly contract;
  readonly asked: (readonly string[])[] = [];
  meanwhile: (texts: readonly string[]) => Promise<unknown> = () => Promise.resolve();

  constructor(id = 'lengths:2') {
    super();
    this.contract = { id, dimensions: 2 };
  }

  async embed(texts: readonly string[]): Promise<number[][]> {
    this.asked.push(texts);
    await this.meanwhile(texts);
    return texts.map((text) => [text.length, 1]);
  }

  /** What was asked for documents. */
  get documents(): (readonly string[])[] {
    return this.asked.filter((texts) => texts[0] !== 'memory');
  }
}

const modelDown = () => Promise.reject(new Error('no such text may be told'));
const failsOn =
  (...bad: string[]) =>
  (texts: readonly string[]) =>
    texts.some((text) => bad.includes(text)) ? modelDown() : Promise.resolve();
const patiently = { retryMs: { first: 60_000, longest: 600_000 }, refusedRetryMs: { first: 3_600_000, longest: 86_400_000 } };

describe('the embedding worker', () => {
  let database: Database;
  let keys: DataKeys;
  let vectors: ProcedureVectors;
  let generator: Lengths;
  let team: string;
  beforeAll(async () => {
    database = await freshDatabase();
    keys = new DataKeys(database, new MasterKey(randomBytes(32)));
    vectors = await ProcedureVectors.create(database);
  });
  beforeEach(async () => {
    await vectors.clear();
    generator = new Lengths();
    team = randomUUID();
  });
  afterAll(() => database.close());

  const worker = (options: Partial<EmbeddingWorkerOptions> = {}) =>
    new EmbeddingWorker({ database, generator, keys, documents: [procedureDocuments], ...patiently, ...options });

  async function stored(question: string, { of = team, ageSeconds = 0 } = {}): Promise<StoredQuestion> {
    const id = randomUUID();
    await keys.provision(of, [id]);
    return vectors.add(of, question, { id, ageSeconds });
  }

  async function embeddingOf(question: StoredQuestion): Promise<string | null | undefined> {
    return (await vectors.row(question))?.embedding;
  }

  it('fills missing vectors, and says how far it is', async () => {
    const [long, short] = [await stored('much longer', { ageSeconds: 90 }), await stored('short')];
    const filling = worker();
    expect(await filling.status()).toMatchObject({ pending: 2, failed: 0 });
    expect((await filling.status()).oldestPendingSeconds).toBeCloseTo(90, -1);

    expect(await filling.fillOnce()).toMatchObject({ found: 2, filled: 2, failed: 0 });
    expect(await vectors.row(short)).toMatchObject({ contract: 'lengths:2', embedding: '[5,1]' });
    expect(await embeddingOf(long)).toBe('[11,1]');
    expect(await vectors.cached()).toEqual({ [short.id]: 1, [long.id]: 1 });
    expect(await filling.status()).toMatchObject({ pending: 0, failed: 0, oldestPendingSeconds: null });
    expect(await filling.fillOnce()).toMatchObject({ found: 0, filled: 0, failed: 0 });
  });

  it('takes a bounded batch, oldest first', async () => {
    for (const question of ['a', 'bb', 'ccc']) await stored(question);
    expect(await worker({ batchSize: 2 }).fillOnce()).toMatchObject({ found: 2 });
    expect(generator.asked).toEqual([['a', 'bb']]);
  });

  it('asks the model once for equal content of a team, and never for content it has seen', async () => {
    await stored('same');
    await stored('same');
    await worker().fillOnce();
    const later = await stored('same');
    const elsewhere = await stored('same', { of: randomUUID() });
    await worker().fillOnce();
    expect(generator.asked).toEqual([['same'], ['same']]); // the second time for the other team
    expect(await embeddingOf(later)).toBe('[4,1]');
    expect(await embeddingOf(elsewhere)).toBe('[4,1]');
    expect(Object.keys(await vectors.cached())).toHaveLength(4);
  });

  it('lets go of all vectors of another contract at once, and replaces them, oldest first', async () => {
    const questions = [await stored('question'), await stored('another one')];
    await worker().fillOnce();
    generator = new Lengths('lengths:new');
    generator.meanwhile = failsOn('memory', 'question', 'another one');
    const filling = worker({ batchSize: 1 });
    await filling.fillOnce();
    for (const question of questions) expect(await vectors.row(question)).toMatchObject({ contract: null, embedding: null });
    expect(await filling.status()).toMatchObject({ pending: 2, failed: 0 });
    generator.meanwhile = () => Promise.resolve();
    await filling.fillOnce();
    await filling.fillOnce();
    for (const question of questions) expect(await vectors.row(question)).toMatchObject({ contract: 'lengths:new' });
    expect(await vectors.cached()).toEqual({ [questions[0]?.id ?? '']: 2, [questions[1]?.id ?? '']: 2 });
  });

  it('goes back to an earlier contract without asking the model, however many rows there are', async () => {
    const questions = await Promise.all(Array.from({ length: 40 }, (_, index) => stored(`question ${index}`)));
    const fill = async () => {
      const filling = worker();
      while ((await filling.fillOnce()).found > 0);
    };
    await fill();
    generator = new Lengths('lengths:new');
    await fill();
    generator = new Lengths();
    await worker().fillOnce();
    expect(generator.asked).toEqual([]);
    for (const question of questions) expect(await vectors.row(question)).toMatchObject({ contract: 'lengths:2' });
  });

  it('takes what the cache has, as after another build began to serve, without asking the model', async () => {
    const question = await stored('question');
    await worker().fillOnce();
    await vectors.forget(question);
    generator.asked.length = 0;
    expect(await worker().fillOnce()).toMatchObject({ found: 0 });
    expect(await vectors.row(question)).toMatchObject({ contract: 'lengths:2', embedding: '[8,1]' });
    expect(generator.asked).toEqual([]);
  });

  it('sets a document aside that fails on its own, tells why without its text, and fills the others', async () => {
    const good = await stored('good');
    const bad = await stored('bad');
    generator.meanwhile = failsOn('bad');
    const filling = worker();
    expect(await filling.fillOnce()).toEqual({ found: 2, filled: 1, failed: 1, outage: undefined });
    expect(await embeddingOf(good)).toBe('[4,1]');
    expect(await vectors.row(bad)).toMatchObject({ attempts: 1, failure: 'adapter_error: Error', embedding: null });
    expect(await filling.status()).toMatchObject({
      pending: 1,
      failed: 1,
      failures: { adapter_error: 1 },
      oldestUntriedSeconds: null,
    });
    expect(await filling.fillOnce()).toMatchObject({ found: 0 });
  });

  it('tries a failed document for ever, at growing intervals, until it succeeds', async () => {
    const question = await stored('question');
    generator.meanwhile = failsOn('question');
    const filling = worker();
    for (const [attempt, least, most] of [
      [1, 30_000, 60_000],
      [2, 60_000, 120_000],
      [3, 120_000, 240_000],
    ] as const) {
      await filling.fillOnce();
      const row = await vectors.row(question);
      expect(row).toMatchObject({ attempts: attempt });
      expect(row?.waits_ms).toBeGreaterThan(least - 5_000);
      expect(row?.waits_ms).toBeLessThanOrEqual(most);
      await vectors.letRetry();
    }
    generator.meanwhile = () => Promise.resolve();
    await filling.fillOnce();
    expect(await vectors.row(question)).toMatchObject({ attempts: null, failure: null, waits_ms: null, embedding: '[8,1]' });
  });

  it.each([
    ['zero_norm', [0, 0]],
    ['not_finite', [Number.NaN, 1]],
    ['wrong_dimensions', [1, 2, 3]],
  ])('waits longer before it tries a text again that the model does not take: %s', async (reason, vector) => {
    const [bad, good] = [await stored('bad'), await stored('good')];
    generator.embed = (texts) => Promise.resolve(texts.map((text) => (text === 'bad' ? vector : [1, 1])));
    await worker().fillOnce();
    const row = await vectors.row(bad);
    expect(row?.failure).toMatch(new RegExp(`^${reason}: `));
    expect(row?.waits_ms).toBeGreaterThan(1_700_000);
    expect(await embeddingOf(good)).toBe('[1,1]');
  });

  it('forgets the failures of another contract, whose model may take the text', async () => {
    const question = await stored('question');
    generator.meanwhile = failsOn('question');
    await worker().fillOnce();
    expect(await vectors.row(question)).toMatchObject({ attempts: 1 });
    generator = new Lengths('lengths:new');
    await worker().fillOnce();
    expect(await vectors.row(question)).toMatchObject({ contract: 'lengths:new', attempts: null });
  });

  it('fills new documents while thousands of failed ones wait to be tried again', async () => {
    for (let index = 0; index < 30; index += 1) await stored(`bad ${index}`);
    generator.meanwhile = (texts) => (texts.some((text) => text.startsWith('bad')) ? modelDown() : Promise.resolve());
    const filling = worker();
    while ((await filling.status()).failed < 30) await filling.fillOnce();
    await vectors.letRetry();
    const questions = [];
    for (let index = 0; index < 20; index += 1) questions.push(await stored(`good ${index}`));
    await filling.fillOnce();
    await filling.fillOnce();
    for (const question of questions) expect(await embeddingOf(question)).toMatch(/^\[/);
  });

  it('blames no document while the model is down, asks with one word of ours, and goes on when it is back', async () => {
    const questions = [];
    for (let index = 0; index < 8; index += 1) questions.push(await stored(`question ${index}`));
    generator.meanwhile = modelDown;
    const filling = worker();
    expect(await filling.fillOnce()).toMatchObject({ found: 8, filled: 0, failed: 0, outage: { reason: 'adapter_error' } });
    expect(generator.asked).toHaveLength(2);
    expect(await filling.fillOnce()).toMatchObject({ found: 0, filled: 0, failed: 0 });
    expect(generator.asked.slice(2)).toEqual([['memory']]);
    expect(await filling.status()).toMatchObject({ pending: 8, failed: 0, outage: { reason: 'adapter_error' } });
    for (const question of questions) expect(await vectors.row(question)).toMatchObject({ attempts: null, failure: null });
    generator.meanwhile = () => Promise.resolve();
    expect(await filling.fillOnce()).toEqual({ found: 8, filled: 8, failed: 0, outage: undefined });
    expect((await filling.status()).outage).toBeUndefined();
  });

  it('gives up on a text on which the model hangs', async () => {
    const question = await stored('question');
    generator.meanwhile = (texts) => (texts.includes('question') ? new Promise(() => undefined) : Promise.resolve());
    await worker({ timeoutMs: 20 }).fillOnce();
    expect(await vectors.row(question)).toMatchObject({ failure: 'timeout: TimeoutError' });
  });

  it('writes nothing of a memory that is erased while the model works', async () => {
    const erased = await stored('erased');
    const kept = await stored('kept');
    generator.meanwhile = async () => {
      await keys.destroy(team, erased.id);
      await vectors.erase(erased);
    };
    await worker().fillOnce();
    expect(await vectors.row(erased)).toBeUndefined();
    expect(await vectors.cached()).toEqual({ [kept.id]: 1 });
  });

  it('writes nothing of a memory whose key is destroyed, even before the read models know', async () => {
    const erased = await stored('erased');
    generator.meanwhile = () => keys.destroy(team, erased.id);
    await worker().fillOnce();
    expect(await vectors.row(erased)).toMatchObject({ embedding: null, failure: 'no_data_key' });
    expect(await vectors.cached()).toEqual({});
  });

  it('writes no vector into a row whose content changed while the model worked', async () => {
    const question = await stored('question');
    generator.meanwhile = () => vectors.changeContent(question);
    await worker().fillOnce();
    expect(await embeddingOf(question)).toBeNull();
  });

  it('fails the documents of a team whose key is gone, and no others', async () => {
    const lost = randomUUID();
    const unlucky = await stored('unlucky', { of: lost });
    const lucky = await stored('lucky');
    await keys.destroy(lost, lost);
    await worker().fillOnce();
    expect(await vectors.row(unlucky)).toMatchObject({ failure: 'no_data_key: KeyErased', embedding: null });
    expect(await embeddingOf(lucky)).toBe('[5,1]');
  });

  describe('running', () => {
    let running: EmbeddingWorker;
    afterEach(() => running.stop());

    async function until(condition: () => Promise<boolean>): Promise<void> {
      while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
    }

    it('fills what is there, and what comes later as soon as it is woken', async () => {
      const first = await stored('first');
      running = worker({ idleMs: 20_000 });
      running.start();
      await until(async () => (await embeddingOf(first)) !== null);
      const second = await stored('second');
      running.wake();
      await until(async () => (await embeddingOf(second)) !== null);
    });

    it('finds by itself what nobody woke it for', async () => {
      running = worker({ idleMs: 5 });
      running.start();
      const question = await stored('question');
      await until(async () => (await embeddingOf(question)) !== null);
    });

    it('survives a model that is down, and warns without content', async () => {
      const warnings: string[] = [];
      const question = await stored('question');
      generator.meanwhile = modelDown;
      running = worker({
        idleMs: 5,
        outageMs: { first: 1, longest: 5 },
        logger: {
          info: () => undefined,
          warn: (details, message) => warnings.push(JSON.stringify([details, message])),
        },
      });
      running.start();
      await until(() => Promise.resolve(warnings.length > 0));
      generator.meanwhile = () => Promise.resolve();
      await until(async () => (await embeddingOf(question)) !== null);
      expect(warnings.join()).not.toMatch(/question|told/);
    });

    it('does nothing while another service makes the vectors, and takes over when it is its turn', async () => {
      const question = await stored('question');
      let elected = false;
      running = worker({ idleMs: 5 });
      running.start(() => elected);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(generator.asked).toEqual([]);
      elected = true;
      await until(async () => (await embeddingOf(question)) !== null);
    });

    it('stops at once although the model does not answer', async () => {
      const question = await stored('question');
      running = worker();
      generator.meanwhile = () => new Promise(() => undefined);
      running.start();
      await until(() => Promise.resolve(generator.asked.length === 1));
      await running.stop();
      expect(await vectors.row(question)).toMatchObject({ embedding: null, attempts: null });
    });
  });
});
