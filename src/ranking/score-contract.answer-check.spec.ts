import {
  answerability,
  type AnswerCheckFacts,
  answerCheckNote,
  answerCheckStatus,
  isAnswerCheckProblem,
  parseAnswerCheck,
} from './score-contract.answer-check.js';
import { answerCheckReasons, answerCheckStatuses } from './score-contract.closed-sets.js';

describe('the answer_check parameter', () => {
  it.each(['', 'full', 'no_reorder', 'skip', 'context'])('may be %p', (value) => {
    expect(parseAnswerCheck(value)).toBe(value);
  });

  it.each([undefined, null])('counts as empty when it is %p', (value) => {
    expect(parseAnswerCheck(value)).toBe('');
  });

  it.each(['sometimes', 'FULL', ' skip', 0, false, ['skip'], {}])('may not be %p', (value) => {
    const parsed = parseAnswerCheck(value);
    expect(isAnswerCheckProblem(parsed)).toBe(true);
    expect(parsed).toEqual({ code: 'answer_check_invalid', message: 'answer_check must be skip, no_reorder or full' });
  });

  it('is no problem when it is valid', () => {
    expect(isAnswerCheckProblem(parseAnswerCheck('context'))).toBe(false);
  });
});

describe('whether the judge is asked', () => {
  const asked: AnswerCheckFacts = {
    configured: true,
    request: '',
    systemRecall: false,
    isQuestion: true,
    resultCount: 3,
    readsOtherProfile: false,
    otherProfileAllowed: false,
    memo: false,
    timeLeft: true,
    judge: 'ready',
  };

  // In the order of decision: each row also has all the faults of the rows below it, and still decides.
  const rows: [Partial<AnswerCheckFacts>, string, string][] = [
    [{ configured: false }, 'off', ''],
    [{ request: 'skip' }, 'skipped', ''],
    [{ request: 'context' }, 'skipped', ''],
    [{ systemRecall: true }, 'skipped', ''],
    [{ isQuestion: false }, 'skipped', 'not_a_question'],
    [{ resultCount: 0 }, 'skipped', 'no_results'],
    [{ readsOtherProfile: true }, 'skipped', 'other_profile_memory'],
    [{ memo: true }, 'judged', 'reused'],
    [{ timeLeft: false }, 'skipped', 'budget'],
    [{ judge: 'busy' }, 'busy', ''],
  ];

  it.each(rows)('given %p it is %s %s', (fault, status, reason) => {
    expect(answerCheckStatus({ ...asked, ...fault })).toEqual({ status, reason });
  });

  it('is decided by the first that applies', () => {
    for (const [index, [, status, reason]] of rows.entries()) {
      const faults = rows
        .slice(index)
        .reverse()
        .reduce<AnswerCheckFacts>((facts, [fault]) => ({ ...facts, ...fault }), asked);
      expect(answerCheckStatus(faults)).toEqual({ status, reason });
    }
  });

  it('is warming until its model is loaded', () => {
    expect(answerCheckStatus({ ...asked, judge: 'warming' })).toEqual({ status: 'warming', reason: '' });
  });

  it('is so when nothing stands against it, also without the reorder', () => {
    expect(answerCheckStatus(asked)).toEqual({ status: 'ask', reason: '' });
    expect(answerCheckStatus({ ...asked, request: 'full' }).status).toBe('ask');
    expect(answerCheckStatus({ ...asked, request: 'no_reorder' }).status).toBe('ask');
  });

  it('is so for another profile’s memory when the team allows it', () => {
    expect(answerCheckStatus({ ...asked, readsOtherProfile: true, otherProfileAllowed: true }).status).toBe('ask');
  });
});

describe('answerability', () => {
  it.each([
    ['judged', '', true, 'supported', 'judged_fresh'],
    ['judged', '', false, 'unsupported', 'judged_fresh'],
    ['judged', 'reused', true, 'supported', 'judged_from_memo'],
    ['judged', 'reused', false, 'unsupported', 'judged_from_memo'],
    ['off', '', true, 'unjudged', 'disabled'],
    ['skipped', '', true, 'unjudged', 'disabled'],
    ['skipped', 'budget', true, 'unjudged', 'budget_exhausted'],
    ['skipped', 'other_profile_memory', true, 'unjudged', 'other_profile'],
    ['skipped', 'no_results', true, 'unjudged', 'no_results'],
    ['skipped', 'not_a_question', true, 'unjudged', 'not_a_question'],
    ['busy', '', true, 'unjudged', 'busy'],
    ['warming', '', true, 'unjudged', 'warming'],
    ['unavailable', '', true, 'unjudged', 'unavailable'],
  ] as const)('of a check that was %s %p, sufficient %p, is %s because %s', (status, reason, sufficient, verdict, why) => {
    expect(answerability(status, reason, sufficient)).toEqual({ answerability: verdict, answerability_reason: why });
  });
});

describe('the note of an answer check', () => {
  it('explains every check that should have given a verdict and did not', () => {
    const explained = answerCheckStatuses.flatMap((status) =>
      answerCheckReasons.filter((reason) => answerCheckNote(status, reason) !== '').map((reason) => `${status} ${reason}`.trim()),
    );
    const always = (status: string) => answerCheckReasons.map((reason) => `${status} ${reason}`.trim());
    expect(new Set(explained)).toEqual(
      new Set([
        ...always('unavailable'),
        ...always('busy'),
        ...always('warming'),
        'judged reused',
        'skipped budget',
        'skipped other_profile_memory',
      ]),
    );
  });
});
