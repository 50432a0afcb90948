import fc from 'fast-check';
import { answerCheckStatuses, type CompletedRecall, responseFields } from './score-contract.js';

describe('for all recalls', () => {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  const supportChecks = fc.record({
    tier: fc.constantFrom('supported', 'related', 'none'),
    probabilities: fc.array(share, { maxLength: 3 }),
    threshold: share,
    recipeVersion: fc.constant('support-v1'),
    weakShown: fc.boolean(),
  });
  const verdicts = fc.record({
    probabilities: fc.array(fc.oneof(share, fc.anything()), { maxLength: 3 }),
    threshold: share,
    calibrationId: fc.constant('judge-1'),
    calibrated: fc.boolean(),
  });
  const recalls: fc.Arbitrary<CompletedRecall> = fc.record({
    completed: fc.constant(true),
    resultCount: fc.nat({ max: 3 }),
    candidateCount: fc.nat({ max: 5 }),
    removedByFloor: fc.nat({ max: 5 }),
    supportCheck: fc.oneof(fc.constant(undefined), fc.constant('warming_up' as const), supportChecks),
    verdict: fc.option(verdicts, { nil: undefined }),
    answerCheck: fc.option(fc.record({ status: fc.oneof(fc.constantFrom(...answerCheckStatuses), fc.anything()) }), {
      nil: undefined,
    }),
    warmingUp: fc.boolean(),
  });

  it('abstained, reason and note go together', () => {
    fc.assert(
      fc.property(recalls, (any) => {
        const { abstained, abstention_reason, abstention_note, tier } = responseFields(any);
        expect(abstention_reason !== null).toBe(abstained);
        if (!abstained) expect(abstention_note).toBe('');
        if (tier === 'supported') expect(abstained).toBe(false);
        else if (any.resultCount === 0) expect(abstained).toBe(true);
      }),
    );
  });

  it('only a judged verdict gives a confidence, and only it says supported or unsupported', () => {
    fc.assert(
      fc.property(recalls, (any) => {
        const given = responseFields(any);
        const judged = given.answer_check_status === 'judged';
        expect(given.answer_check_ran).toBe(judged);
        expect(given.answer_confidence !== null).toBe(judged);
        expect(given.calibration_status !== 'uncalibrated').toBe(judged);
        expect(given.answerability !== 'unjudged').toBe(judged);
        if (!any.verdict) expect(judged).toBe(false);
      }),
    );
  });

  it('a warming recall is never said not to be in memory', () => {
    fc.assert(
      fc.property(recalls, (any) => {
        const { warming_up, abstention_note, support: shown, tier } = responseFields(any);
        if (warming_up) expect([abstention_note, shown, tier === 'none']).toEqual(['', null, false]);
      }),
    );
  });
});
