import { AdapterDefect, DependencyUnavailable } from '../embedding/errors.js';
import { askEvaluator, askIntent, judgeable, longestJudgedAnswer } from './ask.js';
import { Evaluator, type JudgedRun, type Judgement } from './evaluator.js';
import { IntentExtractor, type ExtractedIntent } from './intent-extractor.js';

const content = 'the patient is called Ada';

class QuotaSpent extends Error {}

/** Extractors and judges that do what the test says, valid or not. */
class Extractor extends IntentExtractor {
  constructor(private readonly answer: () => unknown) {
    super();
  }

  extract(): Promise<ExtractedIntent> {
    return this.answer() as Promise<ExtractedIntent>;
  }
}

class Judge extends Evaluator {
  signal: AbortSignal | undefined;

  constructor(private readonly answer: () => unknown) {
    super();
  }

  judge(_: JudgedRun, signal: AbortSignal): Promise<Judgement> {
    this.signal = signal;
    return this.answer() as Promise<Judgement>;
  }
}

const never = () => new Promise<never>(() => undefined);

/** Ways in which a model is down, and what of each may be told. */
const outages = [
  ['throws', () => Promise.reject(new QuotaSpent(content)), 'QuotaSpent'],
  [
    'throws before it returns',
    () => {
      throw new QuotaSpent(content);
    },
    'QuotaSpent',
  ],
  ['cancels by itself', () => Promise.reject(new DOMException(content, 'AbortError')), 'AbortError'],
  ['times out and ignores the signal', never, 'TimeoutError'],
  ['says that it is down', () => Promise.reject(new DependencyUnavailable('intent_unavailable', content)), undefined],
] as const;

async function rejection(promise: Promise<unknown>): Promise<Error> {
  const failure: unknown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(failure instanceof Error) && !(failure instanceof DOMException)) throw new Error('it did not reject');
  return failure;
}

describe('asking for an intent', () => {
  const wait = { timeoutMs: 30, minConfidence: 0.7 };
  const ask = (extract: () => unknown, signal?: AbortSignal) => askIntent(new Extractor(extract), content, { ...wait, signal });
  const answering = (intent: unknown, confidence: unknown = 1) => ask(() => Promise.resolve({ intent, confidence }));

  it('gives the intent when the extractor is sure enough', async () => {
    expect(await answering('refund-order', 0.7)).toBe('refund-order');
    expect(await answering('a'.repeat(64))).toBe('a'.repeat(64));
  });

  it('gives none below the threshold', async () => {
    expect(await answering('refund-order', 0.69)).toBeUndefined();
  });

  it.each(outages)('is unavailable when the extractor %s', async (_, extract, detail) => {
    const failure = await rejection(ask(extract));
    expect(failure).toBeInstanceOf(DependencyUnavailable);
    expect(failure).toMatchObject({ code: 'intent_unavailable', detail });
    expect(failure.message).not.toContain('Ada');
  });

  it.each([
    ['an empty intent', { intent: '', confidence: 1 }],
    ['an intent with capitals', { intent: 'Refund', confidence: 1 }],
    ['an intent with a space', { intent: 'refund order', confidence: 1 }],
    ['an intent with a line break', { intent: 'refund\n', confidence: 1 }],
    ['an intent that begins with a hyphen', { intent: '-refund', confidence: 1 }],
    ['an intent that is too long', { intent: 'a'.repeat(65), confidence: 1 }],
    ['no intent', { confidence: 1 }],
    ['an invalid intent below the threshold', { intent: 'Refund', confidence: 0 }],
    ['a confidence above 1', { intent: 'refund', confidence: 1.01 }],
    ['a negative confidence', { intent: 'refund', confidence: -0.01 }],
    ['a confidence that is no number', { intent: 'refund', confidence: NaN }],
    ['a confidence as text', { intent: 'refund', confidence: '1' }],
    ['nothing', undefined],
    ['text', 'refund'],
  ])('is a defect of the adapter when it answers %s', async (_, answer) => {
    expect(await rejection(ask(() => Promise.resolve(answer)))).toBeInstanceOf(AdapterDefect);
  });

  it('passes on a defect that the adapter reports', async () => {
    const defect = new AdapterDefect('intent extractor', 'HTTP 400');
    expect(await rejection(ask(() => Promise.reject(defect)))).toBe(defect);
  });

  it('is the caller’s abort when the caller’s own signal fires, even for a defect', async () => {
    for (const outcome of [never, () => Promise.reject(new AdapterDefect('intent extractor', 'HTTP 400'))]) {
      const caller = new AbortController();
      const waiting = ask(() => {
        queueMicrotask(() => caller.abort());
        return new Promise((resolve) => setImmediate(resolve)).then(outcome);
      }, caller.signal);
      expect(await rejection(waiting)).toMatchObject({ name: 'AbortError' });
    }
  });
});

describe('asking the evaluator', () => {
  const run = { question: 'How?', answer: content };
  const ask = (judge: () => unknown, signal?: AbortSignal) => askEvaluator(new Judge(judge), run, { timeoutMs: 30, signal });

  it.each([true, false])('gives the judge’s verdict: %s', async (success) => {
    expect(await ask(() => Promise.resolve({ success }))).toEqual({ source: 'evaluator', success });
  });

  it.each(outages)('gives no verdict when the judge %s', async (_, judge) => {
    expect(await ask(judge)).toBeUndefined();
  });

  it('waits for ever when no timeout is set', async () => {
    const late = () => new Promise((resolve) => setTimeout(resolve, 60, { success: true }));
    expect(await askEvaluator(new Judge(late), run, { timeoutMs: undefined })).toMatchObject({
      success: true,
    });
  });

  it('cancels the signal it gave the judge when the time is over', async () => {
    const judge = new Judge(never);
    await askEvaluator(judge, run, { timeoutMs: 10 });
    expect(judge.signal?.aborted).toBe(true);
  });

  it.each([undefined, null, {}, { success: 'true' }, { success: 1 }, true])(
    'is a defect of the adapter when the verdict is %j',
    async (verdict) => {
      const failure = await rejection(ask(() => Promise.resolve(verdict)));
      expect(failure).toBeInstanceOf(AdapterDefect);
      expect(failure.message).not.toContain('Ada');
    },
  );

  it('passes on a defect that the adapter reports', async () => {
    expect(await rejection(ask(() => Promise.reject(new AdapterDefect('evaluator', 'HTTP 401'))))).toMatchObject({
      code: 'adapter_defect',
      reason: 'HTTP 401',
    });
  });

  it('is the caller’s abort when the caller’s own signal fires', async () => {
    const caller = new AbortController();
    const waiting = ask(never, caller.signal);
    caller.abort();
    expect(await rejection(waiting)).toMatchObject({ name: 'AbortError' });
  });
});

describe('an answer', () => {
  it.each([
    ['is judged when it says something', 'done', true],
    ['is not judged when it is empty', '', false],
    ['is not judged when it is blank', ' \n\t\u00a0', false],
    ['is judged at 32,000 code points', 'x'.repeat(longestJudgedAnswer), true],
    ['is not judged at 32,001 code points', 'x'.repeat(longestJudgedAnswer + 1), false],
    ['is judged at 32,000 code points outside the basic plane', '😀'.repeat(longestJudgedAnswer), true],
    ['is not judged at 32,001 code points of both kinds', `${'😀'.repeat(longestJudgedAnswer)}x`, false],
    ['is not judged at 64,001 units', 'x'.repeat(2 * longestJudgedAnswer + 1), false],
  ])('%s', (_, answer, expected) => {
    expect(judgeable(answer)).toBe(expected);
  });
});
