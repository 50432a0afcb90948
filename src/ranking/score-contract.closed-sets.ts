/**
 * The closed sets of the score contract: what a field may say. The first value of each is the safe one, which claims
 * least; whatever a model server or a newer release puts in its place becomes that one.
 */

export const answerCheckStatuses = ['unavailable', 'judged', 'off', 'skipped', 'busy', 'warming'] as const;
export type AnswerCheckStatus = (typeof answerCheckStatuses)[number];

export const answerCheckReasons = ['', 'not_a_question', 'no_results', 'other_profile_memory', 'budget', 'reused'] as const;
export type AnswerCheckReason = (typeof answerCheckReasons)[number];

export const answerabilities = ['unjudged', 'supported', 'unsupported'] as const;
export type Answerability = (typeof answerabilities)[number];

export const answerabilityReasons = [
  'unavailable',
  'judged_fresh',
  'judged_from_memo',
  'disabled',
  'warming',
  'busy',
  'budget_exhausted',
  'no_results',
  'not_a_question',
  'other_profile',
] as const;
export type AnswerabilityReason = (typeof answerabilityReasons)[number];

export const abstentionReasons = [null, 'evidence_floor', 'no_candidates', 'unsupported', 'judged_insufficient'] as const;
export type AbstentionReason = (typeof abstentionReasons)[number];

/** Of a whole recall; empty until a support check labelled it. */
export const tiers = ['', 'supported', 'related', 'none'] as const;
export type Tier = (typeof tiers)[number];

/** Of one result. */
export const resultTiers = ['related', 'supported', 'weak'] as const;
export type ResultTier = (typeof resultTiers)[number];

/** The step that made the final order. */
export const rerankerStatuses = [
  'not_configured',
  'not_ready',
  'no_candidates',
  'applied',
  'busy_or_unavailable',
  'error',
  'null_scores',
  'jev_listwise',
] as const;
export type RerankerStatus = (typeof rerankerStatuses)[number];

/** What the local reranker said before an answer check put its own order in place; empty when nothing did. */
export const localRerankerStatuses = [
  '',
  'not_configured',
  'not_ready',
  'no_candidates',
  'applied',
  'busy_or_unavailable',
  'error',
  'null_scores',
] as const;
export type LocalRerankerStatus = (typeof localRerankerStatuses)[number];

export const calibrationStatuses = ['uncalibrated', 'unmeasured', 'calibrated'] as const;
export type CalibrationStatus = (typeof calibrationStatuses)[number];

/** The value itself when the set has it, else the set's safe value. */
export function closed<T>(set: readonly [T, ...T[]], value: unknown): T {
  return set.find((member) => member === value) ?? set[0];
}
