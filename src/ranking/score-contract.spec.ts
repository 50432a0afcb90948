import {
  answerCheckStatuses,
  type CompletedRecall,
  finaliseScores,
  notes,
  rerankerStatuses,
  responseFields,
  type SupportCheck,
  unsetResponseFields,
  type Verdict,
} from './score-contract.js';

const recall = (changes: Partial<CompletedRecall> = {}): CompletedRecall => ({
  completed: true,
  resultCount: 2,
  candidateCount: 5,
  removedByFloor: 0,
  ...changes,
});
const fields = (changes: Partial<CompletedRecall> = {}) => responseFields(recall(changes));
const empty = { resultCount: 0, candidateCount: 0 };

const verdict = (probabilities: unknown[], changes: Partial<Verdict> = {}): Verdict => ({
  probabilities,
  threshold: 0.6,
  calibrationId: 'judge-1',
  calibrated: false,
  ...changes,
});
const insufficient = verdict([0.31, 0.12]);
const sufficient = verdict([0.42, 0.88, 0.05]);

const support = (tier: SupportCheck['tier'], changes: Partial<SupportCheck> = {}): SupportCheck => ({
  tier,
  probabilities: [0.2, 0.4],
  threshold: 0.5,
  recipeVersion: 'support-v1',
  weakShown: false,
  ...changes,
});

describe('the response fields', () => {
  it('of a response that never reached the pipeline claim nothing', () => {
    expect(responseFields({ completed: false })).toEqual(unsetResponseFields);
    expect(unsetResponseFields).toEqual({
      score_contract_version: '2',
      calibration_status: 'uncalibrated',
      calibration_id: null,
      answer_confidence: null,
      abstained: false,
      abstention_reason: null,
      abstention_note: '',
      tier: '',
      warming_up: false,
      status_note: '',
      answer_check_status: 'skipped',
      answer_check_ran: false,
      answer_check_reason: '',
      answer_check_note: '',
      answerability: 'unjudged',
      answerability_reason: 'unavailable',
      reranker_status: 'not_configured',
      local_reranker_status: '',
      support: null,
    });
  });

  it('of a completed recall without a check say that it is off', () => {
    expect(fields()).toEqual({ ...unsetResponseFields, answer_check_status: 'off', answerability_reason: 'disabled' });
  });

  it('of a supported recall without an answer check are those of the documented example', () => {
    expect(fields({ supportCheck: support('supported', { probabilities: [0.9, 0.4] }) })).toMatchObject({
      calibration_status: 'uncalibrated',
      calibration_id: null,
      answer_confidence: null,
      abstained: false,
      abstention_reason: null,
      abstention_note: '',
      tier: 'supported',
      warming_up: false,
      status_note: '',
      answer_check_status: 'off',
      reranker_status: 'not_configured',
      local_reranker_status: '',
    });
  });
});

describe('a verdict', () => {
  it('below its threshold makes memory abstain and keeps both results', () => {
    const results = finaliseScores([
      { relevance_score: 0.3, ranking_score: 0.3 },
      { relevance_score: 0.8, ranking_score: 0.8 },
    ]);
    expect(fields({ resultCount: results.length, verdict: insufficient })).toMatchObject({
      abstained: true,
      abstention_reason: 'judged_insufficient',
      abstention_note: notes.closestShown,
      answer_check_status: 'judged',
      answer_check_ran: true,
      answerability: 'unsupported',
      answerability_reason: 'judged_fresh',
      answer_confidence: 0.31,
    });
    expect(results.map(({ relevance_score }) => relevance_score)).toEqual([0.3, 0.8]);
  });

  it('that one result reaches does not', () => {
    expect(fields({ resultCount: 3, verdict: sufficient })).toMatchObject({
      abstained: false,
      abstention_reason: null,
      abstention_note: '',
      answerability: 'supported',
      answer_confidence: 0.88,
    });
  });

  it('is reached at the threshold itself', () => {
    expect(fields({ verdict: verdict([0.6]) }).abstained).toBe(false);
  });

  it('is unmeasured until the calibration artefact passed the gate', () => {
    expect(fields({ verdict: sufficient })).toMatchObject({
      calibration_status: 'unmeasured',
      calibration_id: 'judge-1',
      answer_confidence: 0.88,
    });
    expect(fields({ verdict: verdict([0.7], { calibrated: true, calibrationId: 'calibration-7' }) })).toMatchObject({
      calibration_status: 'calibrated',
      calibration_id: 'calibration-7',
      answer_confidence: 0.7,
    });
    expect(fields()).toMatchObject({ calibration_status: 'uncalibrated', calibration_id: null, answer_confidence: null });
  });

  it('counts what is no probability as 0', () => {
    expect(fields({ verdict: verdict([Number.NaN, '0.9', Number.POSITIVE_INFINITY, -3]) })).toMatchObject({
      answer_confidence: 0,
      abstention_reason: 'judged_insufficient',
    });
    expect(fields({ verdict: verdict([7]) }).answer_confidence).toBe(1);
  });

  it('may be that of an identical earlier check', () => {
    expect(fields({ verdict: sufficient, answerCheck: { status: 'judged', reason: 'reused' } })).toMatchObject({
      answer_check_ran: true,
      answer_check_reason: 'reused',
      answerability: 'supported',
      answerability_reason: 'judged_from_memo',
    });
  });

  it.each(answerCheckStatuses.filter((status) => status !== 'judged'))('does not count when the check says %s', (status) => {
    expect(fields({ verdict: insufficient, answerCheck: { status } })).toMatchObject({
      abstained: false,
      answer_check_status: status,
      answer_check_ran: false,
      answerability: 'unjudged',
      calibration_status: 'uncalibrated',
      calibration_id: null,
      answer_confidence: null,
    });
  });

  it.each([undefined, verdict([])])('that is missing makes a check that calls itself judged unavailable', (missing) => {
    expect(fields({ verdict: missing, answerCheck: { status: 'judged', reason: 'reused' } })).toMatchObject({
      abstained: false,
      answer_check_status: 'unavailable',
      answer_check_ran: false,
      answer_check_reason: '',
      answerability: 'unjudged',
      answerability_reason: 'unavailable',
      answer_confidence: null,
    });
  });
});

describe('the answer check', () => {
  it.each([
    [{ status: 'thinking', reason: 'who knows' }, 'unavailable', '', 'unavailable'],
    [{ status: 'skipped', reason: 'budget' }, 'skipped', 'budget', 'budget_exhausted'],
    [{ status: 'skipped' }, 'skipped', '', 'disabled'],
    [{ status: 'busy' }, 'busy', '', 'busy'],
    [{ status: 'warming' }, 'warming', '', 'warming'],
    [{ status: 'off' }, 'off', '', 'disabled'],
  ])('given as %p is %s', (answerCheck, status, reason, why) => {
    expect(fields({ answerCheck })).toMatchObject({
      answer_check_status: status,
      answer_check_ran: false,
      answer_check_reason: reason,
      answerability: 'unjudged',
      answerability_reason: why,
      abstained: false,
    });
  });

  it('explains itself, or says what it is told to', () => {
    expect(fields({ answerCheck: { status: 'busy' } }).answer_check_note).toMatch(/^Not checked: .*\.$/);
    expect(fields({ answerCheck: { status: 'busy', note: 'Come back later.' } }).answer_check_note).toBe('Come back later.');
    expect(fields().answer_check_note).toBe('');
  });
});

describe('abstaining', () => {
  it('is chosen in order: a judged verdict first', () => {
    const everything = {
      resultCount: 0,
      candidateCount: 4,
      removedByFloor: 4,
      verdict: insufficient,
      supportCheck: support('none'),
    };
    expect(fields(everything).abstention_reason).toBe('judged_insufficient');
  });

  it('then a support check that recorded probabilities', () => {
    const rest = { resultCount: 0, candidateCount: 4, removedByFloor: 4, supportCheck: support('none') };
    expect(fields(rest).abstention_reason).toBe('unsupported');
    expect(fields({ ...rest, resultCount: 2 }).abstention_reason).toBe('unsupported');
    expect(fields({ ...rest, verdict: sufficient }).abstention_reason).toBe('unsupported');
  });

  it('then results that are left, when the support check recorded no probabilities', () => {
    const labelled = support('related', { probabilities: [] });
    expect(fields({ resultCount: 2, removedByFloor: 5, supportCheck: labelled })).toMatchObject({
      abstained: true,
      abstention_reason: 'judged_insufficient',
      abstention_note: notes.closestShown,
    });
  });

  it('then a floor that removed everything', () => {
    expect(fields({ resultCount: 0, candidateCount: 5, removedByFloor: 5 })).toMatchObject({
      abstained: true,
      abstention_reason: 'evidence_floor',
      abstention_note: notes.nothingMatched,
    });
    const labelled = support('none', { probabilities: [] });
    expect(fields({ resultCount: 0, candidateCount: 5, removedByFloor: 5, supportCheck: labelled }).abstention_reason).toBe(
      'evidence_floor',
    );
  });

  it('and last that there were no candidates', () => {
    expect(fields(empty)).toMatchObject({
      abstained: true,
      abstention_reason: 'no_candidates',
      abstention_note: notes.nothingMatched,
    });
    expect(fields({ ...empty, verdict: sufficient }).abstention_reason).toBe('no_candidates');
    // A floor that removed some, not all, is not why the list is empty.
    expect(fields({ resultCount: 0, candidateCount: 5, removedByFloor: 3 }).abstention_reason).toBe('no_candidates');
  });

  it('does not happen to a supported recall, whatever the verdict', () => {
    const supported = support('supported', { probabilities: [0.9] });
    expect(fields({ supportCheck: supported, verdict: insufficient })).toMatchObject({
      abstained: false,
      abstention_reason: null,
      abstention_note: '',
      tier: 'supported',
      answerability: 'unsupported',
      answer_confidence: 0.31,
    });
    expect(fields({ ...empty, supportCheck: supported }).abstained).toBe(false);
  });

  it('does not happen because nothing was checked', () => {
    expect(fields({ resultCount: 1 }).abstained).toBe(false);
  });
});

describe('the support check', () => {
  it('is shown with its numbers', () => {
    expect(fields({ supportCheck: support('related', { probabilities: [0.2, 0.4, 7], weakShown: true }) }).support).toEqual({
      status: 'unsupported',
      best_score: 1,
      threshold: 0.5,
      recipe_version: 'support-v1',
      weak_shown: true,
      tier: 'related',
      probabilities: [0.2, 0.4, 1],
    });
    expect(fields({ supportCheck: support('supported') }).support?.status).toBe('supported');
    expect(fields({ supportCheck: support('none', { probabilities: [] }) }).support?.best_score).toBeNull();
  });

  it.each([
    ['close ones are shown', 'related', 2, notes.closestShown],
    ['close ones are withheld', 'related', 0, notes.closestWithheld],
    ['not even close ones exist', 'none', 0, notes.notInMemory],
    ['results are only labelled', 'none', 2, notes.closestShown],
  ] as const)('says so when %s', (_, tier, resultCount, note) => {
    expect(fields({ resultCount, supportCheck: support(tier) })).toMatchObject({ tier, abstained: true, abstention_note: note });
  });

  it('says that close ones are withheld also when it recorded no probabilities', () => {
    const labelled = support('related', { probabilities: [] });
    expect(fields({ resultCount: 0, supportCheck: labelled }).abstention_note).toBe(notes.closestWithheld);
  });

  it('leaves tier empty and support null when it is off', () => {
    expect(fields({ supportCheck: undefined })).toMatchObject({ tier: '', support: null });
  });
});

describe('the notes', () => {
  it('name the product and are sentences', () => {
    expect(notes.notInMemory).toBe("That isn't in Mneme.");
    expect(notes.nothingMatched).toBe('Nothing in memory matched this question.');
    expect(notes.closestShown).toBe("I don't have this exactly — here are the closest memories.");
    expect(notes.closestWithheld).toContain('include_related');
    expect(notes.warmingUp).toBe('Mneme is still warming up — results may be incomplete. Try again in a few minutes.');
  });
});

describe('a recall while models are loading', () => {
  it('is related at best, and no verdict that memory lacks the answer', () => {
    for (const early of [
      { supportCheck: 'warming_up' },
      { warmingUp: true, supportCheck: support('none') },
      { warmingUp: true, supportCheck: support('supported') },
    ] as const) {
      expect(fields(early)).toMatchObject({
        abstained: false,
        abstention_note: '',
        tier: 'related',
        support: null,
        warming_up: true,
        status_note: notes.warmingUp,
      });
    }
  });

  it('abstains from an empty list without saying that nothing is there', () => {
    expect(fields({ ...empty, supportCheck: 'warming_up' })).toMatchObject({
      abstained: true,
      abstention_reason: 'no_candidates',
      abstention_note: '',
      tier: '',
      status_note: notes.warmingUp,
    });
  });

  it('has no tier where the support check is off', () => {
    expect(fields({ warmingUp: true })).toMatchObject({ tier: '', warming_up: true, status_note: notes.warmingUp });
  });
});

describe('the reranker', () => {
  it.each(rerankerStatuses.filter((status) => status !== 'jev_listwise'))('%s has no local status beside it', (status) => {
    expect(fields({ reranker: { status, localStatus: 'applied' } })).toMatchObject({
      reranker_status: status,
      local_reranker_status: '',
    });
  });

  it('keeps the local status when an answer check replaced its order', () => {
    expect(fields({ reranker: { status: 'jev_listwise', localStatus: 'applied' } })).toMatchObject({
      reranker_status: 'jev_listwise',
      local_reranker_status: 'applied',
    });
  });

  it('with a status nobody knows counts as not configured', () => {
    expect(fields({ reranker: { status: 'sorted', localStatus: 'sorted' } }).reranker_status).toBe('not_configured');
    expect(fields({ reranker: { status: 'jev_listwise', localStatus: 'jev_listwise' } }).local_reranker_status).toBe('');
  });
});

describe('layers and channels', () => {
  const layers = { depth: 1, max_tokens: null, tokens_used: 40, trimmed: false, left_out: 0 } as const;

  it('come with another depth or a token cap only', () => {
    expect(fields()).not.toHaveProperty('layers');
    expect(fields({ layers })).not.toHaveProperty('layers');
    expect(fields({ layers: { ...layers, depth: 2 } }).layers).toEqual({ ...layers, depth: 2 });
    expect(fields({ layers: { ...layers, max_tokens: 100 } }).layers).toEqual({ ...layers, max_tokens: 100 });
  });

  it('name incomplete channels in order, when asked for', () => {
    expect(fields()).not.toHaveProperty('channel_status');
    const channels = { status: { temporal: 'abandoned', dense: 'failed', bm25: 'complete' }, incomplete: ['temporal', 'dense'] };
    expect(fields({ channels })).toMatchObject({ channel_status: channels.status, incomplete_channels: ['dense', 'temporal'] });
    expect(channels.incomplete).toEqual(['temporal', 'dense']);
  });
});
