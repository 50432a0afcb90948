import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cosine } from '../../test/support/cosine.js';
import { compiledFile } from '../config/package-root.js';
import { BundledEmbedder } from './bundled.embedder.js';
import { embedAll, embedOne } from './embedding-check.js';

const wait = { timeoutMs: 20_000 };

describe('the bundled embedder', () => {
  let embedder: BundledEmbedder;
  beforeAll(() => (embedder = new BundledEmbedder({ workers: 2 })));
  afterAll(() => embedder.close());

  it('finds paraphrases closer than other texts', async () => {
    const [question, paraphrase, other] = await embedAll(
      embedder,
      ['How do I refund an order?', 'How can I give a customer their money back?', 'What is the weather in Paris?'],
      wait,
    );
    expect(cosine(question, paraphrase)).toBeGreaterThan(cosine(question, other) + 0.4);
  });

  it('gives vectors of 512 dimensions and norm 1, in order, whichever thread made them', async () => {
    const texts = Array.from({ length: 20 }, (_, index) => `How do I refund order ${index}?`);
    const [all, seventh] = await Promise.all([embedAll(embedder, texts, wait), embedOne(embedder, texts[7] ?? '', wait)]);
    expect(all).toHaveLength(20);
    for (const vector of all) {
      expect(vector).toHaveLength(512);
      expect(Math.hypot(...vector)).toBeCloseTo(1, 5);
    }
    expect(cosine(all[7], seventh)).toBeCloseTo(1, 5);
    expect(cosine(all[6], seventh)).toBeLessThan(0.9999);
  });

  it('reads a long text to its end', async () => {
    const filler = 'The customer asked about the invoice and the agent answered politely. '.repeat(20);
    const [plain, changed] = await embedAll(embedder, [filler, `${filler} Elephants live in Africa.`], wait);
    expect(cosine(plain, changed)).toBeLessThan(0.999);
  });

  it('takes seconds at most for texts without end, which whole would take minutes', async () => {
    expect(await embedAll(embedder, ['word '.repeat(200_000), '日本語'.repeat(50_000)], wait)).toHaveLength(2);
  });

  it.each(['', ' ', '\n', '???', '日本語', '\ud800', '😀'])('has a usable vector for %j', async (text) => {
    expect(await embedOne(embedder, text, wait)).toHaveLength(512);
  });
});

describe('the threads of the bundled embedder', () => {
  const workerFile = compiledFile('test/support/brittle-embedder.worker.js');
  let embedder: BundledEmbedder;
  // Long enough for a thread that starts on a busy machine, short enough to wait for one that is meant to be stuck.
  beforeEach(() => (embedder = new BundledEmbedder({ workerFile, stuckAfterMs: 3_000 })));
  afterEach(() => embedder.close());

  it.each([
    ['crashes', 'crash', 'RangeError'],
    ['exits', 'exit', 'exited'],
    ['is stuck', 'hang', 'stuck'],
    ['reports a failure', 'fail', 'TypeError'],
  ])('fail the request whose thread %s, and serve the next', async (_, text, detail) => {
    const [failing, next] = [embedOne(embedder, text, wait), embedOne(embedder, 'next', wait)];
    await expect(failing).rejects.toMatchObject({ code: 'embedding_unavailable', detail });
    expect((await next)[0]).toBe(4);
  });

  it('serve single texts in order, before what is left of a batch', async () => {
    const done: string[] = [];
    const batch = embedAll(embedder, Array<string>(64).fill('batch'), wait).then(() => done.push('batch'));
    const first = embedOne(embedder, 'first', wait).then(() => done.push('first'));
    const second = embedOne(embedder, 'second', wait).then(() => done.push('second'));
    await Promise.all([batch, first, second]);
    expect(done).toEqual(['first', 'second', 'batch']);
  });

  it('give all vectors in order, whatever lengths the texts have', async () => {
    const long = 'x'.repeat(3_000);
    const texts = [long, long, 'a', ...Array<string>(9).fill('bb'), 'x'.repeat(5_000), 'ccc'];
    const vectors = await embedAll(embedder, texts, wait);
    expect(vectors.map(([length]) => length)).toEqual(texts.map(({ length }) => length));
  });

  it('drop what nobody waits for any more', async () => {
    const caller = new AbortController();
    const first = embedOne(embedder, 'first', wait);
    const dropped = embedOne(embedder, 'hang', { ...wait, signal: caller.signal });
    const last = embedOne(embedder, 'last', { timeoutMs: 2_500 });
    caller.abort();
    await expect(dropped).rejects.toMatchObject({ name: 'AbortError' });
    await first;
    expect((await last)[0]).toBe(4);
  });

  it('stop waiting at once for a thread that works on an aborted request', async () => {
    const caller = new AbortController();
    const running = embedOne(embedder, 'hang', { ...wait, signal: caller.signal });
    caller.abort();
    await expect(running).rejects.toMatchObject({ name: 'AbortError' });
    expect((await embedOne(embedder, 'next', wait))[0]).toBe(4);
  });

  it('end when the embedder closes, with whatever they were doing', async () => {
    const [running, queued] = [embedOne(embedder, 'hang', wait), embedOne(embedder, 'queued', wait)];
    const settled = Promise.allSettled([running, queued]);
    await embedder.close();
    for (const outcome of await settled) expect(outcome).toMatchObject({ status: 'rejected', reason: { detail: 'closed' } });
    await expect(embedOne(embedder, 'later', wait)).rejects.toMatchObject({ detail: 'closed' });
  });

  it('keep a process alive while they work and not when they are idle, and give it no cause to warn', async () => {
    const script = `
      import { BundledEmbedder } from ${JSON.stringify(compiledFile('src/embedding/bundled.embedder.js'))};
      const embedder = new BundledEmbedder({ workerFile: ${JSON.stringify(workerFile)} });
      const texts = Array(200).fill('four'); // more jobs than Node likes to see listeners of one signal
      embedder.embed(texts, new AbortController().signal).then((vectors) => console.log(vectors.length, vectors[199][0]));`;
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
      timeout: 10_000,
    });
    expect({ stdout, stderr }).toEqual({ stdout: '200 4\n', stderr: '' });
  });
});
