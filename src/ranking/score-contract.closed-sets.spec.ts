import {
  abstentionReasons,
  answerabilities,
  answerabilityReasons,
  answerCheckReasons,
  answerCheckStatuses,
  calibrationStatuses,
  closed,
  localRerankerStatuses,
  rerankerStatuses,
  resultTiers,
  tiers,
} from './score-contract.closed-sets.js';

type ClosedSet = readonly [string | null, ...(string | null)[]];

const sets: [name: string, set: ClosedSet, safe: string | null, size: number][] = [
  ['answer_check_status', answerCheckStatuses, 'unavailable', 6],
  ['answer_check_reason', answerCheckReasons, '', 6],
  ['answerability', answerabilities, 'unjudged', 3],
  ['answerability_reason', answerabilityReasons, 'unavailable', 10],
  ['abstention_reason', abstentionReasons, null, 5],
  ['tier', tiers, '', 4],
  ['tier of a result', resultTiers, 'related', 3],
  ['reranker_status', rerankerStatuses, 'not_configured', 8],
  ['local_reranker_status', localRerankerStatuses, '', 8],
  ['calibration_status', calibrationStatuses, 'uncalibrated', 3],
];

describe.each(sets)('the closed set of %s', (_, set, safe, size) => {
  it('keeps each of its values', () => {
    expect(set.map((value) => closed(set, value))).toEqual(set);
    expect(new Set(set).size).toBe(size);
  });

  it.each(['certainly', 'JUDGED', ' supported', 7, Number.NaN, {}, [], true, undefined])(
    'turns %p into its safe value',
    (value) => {
      expect(closed(set, value)).toBe(safe);
    },
  );
});
