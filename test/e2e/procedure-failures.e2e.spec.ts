import { EmbeddingGenerator } from '../../src/embedding/embedding-generator.js';
import { AdapterDefect, DependencyUnavailable } from '../../src/embedding/errors.js';
import { SharedWordsEmbedder } from '../../src/embedding/shared-words.embedder.js';
import { Evaluator, type JudgedRun, type Judgement } from '../../src/judging/evaluator.js';
import { type ExtractedIntent, IntentExtractor } from '../../src/judging/intent-extractor.js';
import { countEvents } from '../support/count-events.js';
import type { Recalled, Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const secret = 'my account is 4711';

/** Models that do as the test says. The port is ours; what stands behind it is not. */
class ScriptedEmbedder extends EmbeddingGenerator {
  private readonly words = new SharedWordsEmbedder();
  readonly contract = this.words.contract;
  answer: ((texts: readonly string[], signal: AbortSignal) => Promise<number[][]>) | undefined;

  embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[] | number[][]> {
    return this.answer ? this.answer(texts, signal) : this.words.embed(texts, signal);
  }
}

class ScriptedIntents extends IntentExtractor {
  answer: () => Promise<ExtractedIntent> = () => Promise.resolve({ intent: 'refund', confidence: 0.9 });
  extract = () => this.answer();
}

class ScriptedEvaluator extends Evaluator {
  calls = 0;
  answer: (run: JudgedRun, signal: AbortSignal) => Promise<Judgement> = () => Promise.resolve({ success: false });

  judge(run: JudgedRun, signal: AbortSignal): Promise<Judgement> {
    this.calls += 1;
    return this.answer(run, signal);
  }
}

describe('when a model fails', () => {
  const embedder = new ScriptedEmbedder();
  const intents = new ScriptedIntents();
  const evaluator = new ScriptedEvaluator();
  let service: TestService;
  let team: TestTeam;

  beforeAll(async () => {
    service = await startTestService({
      embedder,
      intents,
      evaluator,
      settings: { MNEME_EMBEDDING_TIMEOUT_MS: '200', MNEME_EVALUATION_TIMEOUT_MS: '200' },
    });
    team = await newTeam(service);
  });
  afterAll(() => service.stop());
  beforeEach(() => {
    embedder.answer = undefined;
    intents.answer = () => Promise.resolve({ intent: 'refund', confidence: 0.9 });
    evaluator.answer = () => Promise.resolve({ success: false });
    evaluator.calls = 0;
  });

  let questions = 0;
  const newQuestion = () => `${secret}: how do I refund order ${(questions += 1)}?`;
  const remember = (body: object = {}) =>
    team.client.post<Remembered & { code?: string; detail?: string }>('/v1/procedures', {
      question: newQuestion(),
      graph: {},
      run: { success: true, answer: `${secret}: refunded` },
      ...body,
    });
  const recall = (body: object = {}) =>
    team.client.post<Recalled & { code?: string; detail?: string }>('/v1/procedures/recall', {
      question: newQuestion(),
      ...body,
    });
  const events = () => countEvents(service.infrastructure);

  const dimensions = embedder.contract.dimensions;
  const vector = (value: number) => Array.from({ length: dimensions }, () => value);
  const unusable: [string, ScriptedEmbedder['answer'], string | undefined][] = [
    ['throws', () => Promise.reject(new RangeError(secret)), 'RangeError'],
    ['says that it is down', () => Promise.reject(new DependencyUnavailable('embedding_unavailable', 'HTTP 503')), 'HTTP 503'],
    ['never answers', () => new Promise(() => undefined), 'TimeoutError'],
    ['returns nothing', () => Promise.resolve([]), undefined],
    ['returns too few numbers', () => Promise.resolve([[1, 2, 3]]), `length: 3 instead of ${dimensions}`],
    ['returns NaN', () => Promise.resolve([[...vector(1).slice(1), NaN]]), 'non-finite'],
    ['returns infinity', () => Promise.resolve([[...vector(1).slice(1), Infinity]]), 'non-finite'],
    ['returns a zero vector', () => Promise.resolve([vector(0)]), 'norm'],
    ['returns a vector whose squares overflow', () => Promise.resolve([vector(1e30)]), 'norm'],
  ];

  describe.each(unusable)('an embedding generator that %s', (_, answer, detail) => {
    beforeEach(() => {
      embedder.answer = answer;
    });

    it('makes recall unavailable', async () => {
      const { status, body, headers } = await recall();
      expect(status).toBe(503);
      expect(body.code).toBe('embedding_unavailable');
      expect(body.detail).toBe(detail);
      expect(headers.get('retry-after')).toBe('1');
      expect(JSON.stringify(body)).not.toContain('4711');
    });

    it('makes remember unavailable, writes nothing and pays no judge', async () => {
      const before = await events();
      const { status, body } = await remember();
      expect([status, body.code]).toEqual([503, 'embedding_unavailable']);
      expect(await events()).toBe(before);
      expect(evaluator.calls).toBe(0);
      expect(JSON.stringify(body)).not.toContain('4711');
    });
  });

  describe('an intent extractor', () => {
    it('that is sure enough filters recall, and fills in the intent that is remembered', async () => {
      const question = newQuestion();
      const { body, position } = await remember({ question, scope: 'sure' });
      expect((await team.client.get(`/v1/procedures/${body.procedure_id}?min_position=${position}`)).body).toMatchObject({
        intent: 'refund',
      });
      intents.answer = () => Promise.resolve({ intent: 'shipping', confidence: 0.7 });
      expect((await recall({ question, scope: 'sure', min_position: position })).body.matches).toEqual([]);
    });

    it('that is not sure enough filters nothing, and stores no intent', async () => {
      intents.answer = () => Promise.resolve({ intent: 'shipping', confidence: 0.69 });
      const question = newQuestion();
      const { body, position } = await remember({ question, scope: 'unsure' });
      expect((await team.client.get(`/v1/procedures/${body.procedure_id}?min_position=${position}`)).body).toMatchObject({
        intent: null,
      });
      expect((await recall({ question, scope: 'unsure', min_position: position })).body.matches).toHaveLength(1);
    });

    it('is not asked when the caller names the intent', async () => {
      intents.answer = () => Promise.reject(new Error(secret));
      expect((await remember({ intent: 'own' })).status).toBe(201);
    });

    it.each([
      ['throws', () => Promise.reject(new TypeError(secret)), 'TypeError'],
      ['says that it is down', () => Promise.reject(new DependencyUnavailable('intent_unavailable', secret)), undefined],
    ])('that %s is no error for recall, which searches every intent, and fails remember', async (_, answer, detail) => {
      const question = newQuestion();
      const scope = `down-${(questions += 1)}`;
      const { position } = await remember({ question, scope, intent: 'any' });
      intents.answer = answer;
      const recalled = await recall({ question, scope, min_position: position });
      expect([recalled.status, recalled.body.matches.length]).toEqual([200, 1]);
      const before = await events();
      const remembered = await remember({ scope });
      expect([remembered.status, remembered.body.code, remembered.body.detail]).toEqual([503, 'intent_unavailable', detail]);
      expect(await events()).toBe(before);
      expect(JSON.stringify(remembered.body)).not.toContain('4711');
    });

    it.each([
      ['answers an invalid intent', () => Promise.resolve({ intent: `No Slug ${secret}`, confidence: 1 })],
      ['answers an impossible confidence', () => Promise.resolve({ intent: 'refund', confidence: 1.5 })],
      ['answers another error', () => Promise.reject(new AdapterDefect('intent extractor', 'HTTP 400'))],
    ])('that %s is a bug of its adapter', async (_, answer) => {
      intents.answer = answer;
      for (const { status, body } of [await recall(), await remember()]) {
        expect([status, body.code]).toEqual([500, 'internal']);
        expect(JSON.stringify(body)).not.toContain('4711');
      }
    });
  });

  describe('an evaluator', () => {
    it('gives the verdict that counts, and makes the run judged', async () => {
      const { body, position } = await remember();
      expect(body).toMatchObject({ source: 'evaluator', success: false });
      expect((await team.client.get(`/v1/procedures/${body.procedure_id}?min_position=${position}`)).body).toMatchObject({
        counters: { runs: 1, successes: 0, judged_runs: 1, judged_successes: 0 },
      });
      const run = await team.client.post(`/v1/procedures/${body.procedure_id}/executions`, { success: true, answer: 'refunded' });
      expect(run.body).toMatchObject({ source: 'evaluator', success: false });
    });

    it.each([
      ['throws', () => Promise.reject(new Error(secret))],
      ['never answers', () => new Promise(() => undefined)],
    ])('that %s leaves the agent’s verdict', async (_, answer) => {
      evaluator.answer = answer as ScriptedEvaluator['answer'];
      const { status, body } = await remember();
      expect([status, body.source, body.success]).toEqual([201, 'agent', true]);
    });

    it.each([
      ['answers an invalid verdict', () => Promise.resolve({ success: 'yes' })],
      ['answers another error', () => Promise.reject(new AdapterDefect('evaluator', 'HTTP 401'))],
    ])('that %s is a bug of its adapter, and nothing is written', async (_, answer) => {
      evaluator.answer = answer as unknown as ScriptedEvaluator['answer'];
      const before = await events();
      const { status, body } = await remember();
      expect([status, body.code]).toEqual([500, 'internal']);
      expect(await events()).toBe(before);
    });

    it('is not asked about a run without an answer, a blank one, or one over 32,000 characters', async () => {
      for (const answer of [undefined, ' \n ', 'x'.repeat(32_001)]) {
        expect((await remember({ run: { success: true, answer } })).body).toMatchObject({ source: 'agent', success: true });
      }
      expect(evaluator.calls).toBe(0);
    });

    it('is asked once by a command that is sent twice', async () => {
      const { body } = await remember();
      evaluator.calls = 0;
      const send = () =>
        team.client.post(
          `/v1/procedures/${body.procedure_id}/executions`,
          { success: true, answer: 'refunded' },
          { headers: { 'idempotency-key': 'judged-once' } },
        );
      const first = await send();
      expect((await send()).body).toEqual(first.body);
      expect(evaluator.calls).toBe(1);
    });
  });

  describe('a caller that goes away', () => {
    const gone = async (request: (signal: AbortSignal) => Promise<unknown>, reached: Promise<AbortSignal>) => {
      const leaving = new AbortController();
      const answer = request(leaving.signal).catch((error: unknown) => error);
      const work = await reached;
      leaving.abort();
      await answer;
      for (let waited = 0; !work.aborted && waited < 100; waited += 1) await new Promise((resolve) => setTimeout(resolve, 20));
      return work;
    };

    it('stops the embedding it waits for', async () => {
      const reached = new Promise<AbortSignal>((resolve) => {
        embedder.answer = (_, signal) => new Promise(() => resolve(signal));
      });
      const work = await gone(
        (signal) => team.client.post('/v1/procedures/recall', { question: newQuestion() }, { signal }),
        reached,
      );
      expect(work.aborted).toBe(true);
    });

    it('stops the judge it waits for', async () => {
      const reached = new Promise<AbortSignal>((resolve) => {
        evaluator.answer = (_, signal) => new Promise(() => resolve(signal));
      });
      const body = { question: newQuestion(), graph: {}, run: { success: true, answer: 'refunded' } };
      const work = await gone((signal) => team.client.post('/v1/procedures', body, { signal }), reached);
      expect(work.aborted).toBe(true);
    });
  });
});
