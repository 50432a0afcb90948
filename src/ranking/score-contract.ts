import { bounded } from './bounded.js';
import { answerability, type AnswerabilityFields, answerCheckNote } from './score-contract.answer-check.js';
import {
  type AbstentionReason,
  type AnswerCheckReason,
  answerCheckReasons,
  type AnswerCheckStatus,
  answerCheckStatuses,
  type CalibrationStatus,
  closed,
  type LocalRerankerStatus,
  localRerankerStatuses,
  type RerankerStatus,
  rerankerStatuses,
  type Tier,
} from './score-contract.closed-sets.js';

export { bounded } from './bounded.js';
export * from './score-contract.answer-check.js';
export * from './score-contract.closed-sets.js';
export * from './score-contract.results.js';

/**
 * What every recall response says about itself: whether anything checked the answer, and whether memory abstains.
 *
 * Pure: support check, verdict and statuses come in as data. No field here is computed from a retrieval score, because
 * such a score is as high for a question that memory cannot answer as for one it can. `docs/score-contract.md` is the
 * reference of the fields.
 */
export const scoreContractVersion = '2';

export const notes = {
  notInMemory: "That isn't in Mneme.",
  nothingMatched: 'Nothing in memory matched this question.',
  closestShown: "I don't have this exactly — here are the closest memories.",
  closestWithheld: "I don't have this exactly — memories that come close were left out; include_related shows them.",
  warmingUp: 'Mneme is still warming up — results may be incomplete. Try again in a few minutes.',
} as const;

/** What a support check found about one recall. */
export interface SupportCheck {
  /** supported: something answers; related: only close ones; none: not even those. */
  readonly tier: 'supported' | 'related' | 'none';
  /** 0..1 for each result it looked at; empty when it labelled without any. */
  readonly probabilities: readonly number[];
  /** What the best of them had to reach, 0..1. */
  readonly threshold: number;
  readonly recipeVersion: string;
  /** Whether results below the threshold are in the list. */
  readonly weakShown: boolean;
}

/** What an answer judge said about the top results. */
export interface Verdict {
  /** 0..1 for each judged result: how likely it answers the question. Bounded here; what is no number counts 0. */
  readonly probabilities: readonly unknown[];
  /** What the best of them must reach, 0..1. */
  readonly threshold: number;
  readonly calibrationId: string | null;
  /** Whether the configured calibration artefact passed the gate. */
  readonly calibrated: boolean;
}

/** How much of each result was returned, when the caller changed that. */
export interface Layers {
  readonly depth: 1 | 2 | 3;
  readonly max_tokens: number | null;
  readonly tokens_used: number;
  readonly trimmed: boolean;
  /** Results left out for the cap. */
  readonly left_out: number;
}

/** A recall that went through the pipeline. Statuses of models are checked here, not trusted. */
export interface CompletedRecall {
  readonly completed: true;
  /** Results returned. */
  readonly resultCount: number;
  /** Candidates that reached the evidence floor: generated and eligible. */
  readonly candidateCount: number;
  /** How many of those the floor (or the similarity cut-off) removed. */
  readonly removedByFloor: number;
  /** Missing when the check is off for this recall, `warming_up` when it could not run yet. */
  readonly supportCheck?: SupportCheck | 'warming_up' | undefined;
  readonly verdict?: Verdict | undefined;
  /** Missing: judged when there is a verdict, else off. Without a note of its own the status explains itself. */
  readonly answerCheck?: { readonly status: unknown; readonly reason?: unknown; readonly note?: string | undefined } | undefined;
  readonly reranker?: { readonly status: unknown; readonly localStatus?: unknown } | undefined;
  /** The recall ran before its models and inputs were ready. A support check that ran all the same is not believed. */
  readonly warmingUp?: boolean | undefined;
  readonly layers?: Layers | undefined;
  /** State of each producer by name, and the names of those that failed or were abandoned. */
  readonly channels?: { readonly status: Readonly<Record<string, string>>; readonly incomplete: readonly string[] } | undefined;
}

export interface SupportField {
  readonly status: 'supported' | 'unsupported';
  /** Null when the check recorded no probabilities. */
  readonly best_score: number | null;
  readonly threshold: number;
  readonly recipe_version: string;
  readonly weak_shown: boolean;
  readonly tier: 'supported' | 'related' | 'none';
  readonly probabilities: readonly number[];
}

export interface ResponseFields extends AnswerabilityFields {
  readonly score_contract_version: typeof scoreContractVersion;
  readonly calibration_status: CalibrationStatus;
  readonly calibration_id: string | null;
  /** 0..1, of the judge; null without a verdict. */
  readonly answer_confidence: number | null;
  readonly abstained: boolean;
  readonly abstention_reason: AbstentionReason;
  readonly abstention_note: string;
  readonly tier: Tier;
  readonly warming_up: boolean;
  readonly status_note: string;
  readonly answer_check_status: AnswerCheckStatus;
  readonly answer_check_ran: boolean;
  readonly answer_check_reason: AnswerCheckReason;
  readonly answer_check_note: string;
  readonly reranker_status: RerankerStatus;
  readonly local_reranker_status: LocalRerankerStatus;
  readonly support: SupportField | null;
  readonly layers?: Layers;
  readonly channel_status?: Readonly<Record<string, string>>;
  /** Sorted. */
  readonly incomplete_channels?: readonly string[];
}

/** The fields of a response that never reached the pipeline: nothing was looked for, so nothing is claimed. */
export const unsetResponseFields: ResponseFields = {
  score_contract_version: scoreContractVersion,
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
};

/** The contract's response fields of one recall. */
export function responseFields(recall: CompletedRecall | { readonly completed: false }): ResponseFields {
  if (!recall.completed) return unsetResponseFields;
  const check = answerCheck(recall);
  const support = supportField(recall);
  const reason = abstentionReason(recall, check.judgement, support);
  const warmingUp = isWarmingUp(recall);
  return {
    score_contract_version: scoreContractVersion,
    calibration_status: check.judgement?.calibrationStatus ?? 'uncalibrated',
    calibration_id: check.judgement?.calibrationId ?? null,
    answer_confidence: check.judgement?.confidence ?? null,
    abstained: reason !== null,
    abstention_reason: reason,
    abstention_note: reason === null || warmingUp ? '' : abstentionNote(recall.resultCount, reason, support),
    tier: support?.tier ?? (recall.supportCheck && recall.resultCount > 0 ? 'related' : ''),
    warming_up: warmingUp,
    status_note: warmingUp ? notes.warmingUp : '',
    answer_check_status: check.status,
    answer_check_ran: check.status === 'judged',
    answer_check_reason: check.reason,
    answer_check_note: check.note,
    ...answerability(check.status, check.reason, check.judgement?.sufficient ?? false),
    ...rerankerFields(recall.reranker),
    support,
    ...layerFields(recall.layers),
    ...channelFields(recall.channels),
  };
}

interface Judgement {
  readonly sufficient: boolean;
  readonly confidence: number;
  readonly calibrationStatus: 'calibrated' | 'unmeasured';
  readonly calibrationId: string | null;
}

interface AnswerCheck {
  readonly status: AnswerCheckStatus;
  readonly reason: AnswerCheckReason;
  readonly note: string;
  readonly judgement?: Judgement;
}

/** Status and verdict made to agree: a verdict counts only when judged, and judged without a verdict is unavailable. */
function answerCheck({ answerCheck: given, verdict }: CompletedRecall): AnswerCheck {
  const said = given ? closed(answerCheckStatuses, given.status) : verdict ? 'judged' : 'off';
  const judgement = said === 'judged' ? judgementOf(verdict) : undefined;
  if (said === 'judged' && !judgement) return { status: 'unavailable', reason: '', note: answerCheckNote('unavailable', '') };
  const reason = closed(answerCheckReasons, given?.reason);
  return { status: said, reason, note: given?.note ?? answerCheckNote(said, reason), ...(judgement && { judgement }) };
}

function judgementOf(verdict: Verdict | undefined): Judgement | undefined {
  if (!verdict || verdict.probabilities.length === 0) return undefined;
  const confidence = Math.max(...verdict.probabilities.map(bounded));
  return {
    sufficient: confidence >= verdict.threshold,
    confidence,
    calibrationStatus: verdict.calibrated ? 'calibrated' : 'unmeasured',
    calibrationId: verdict.calibrationId,
  };
}

const isWarmingUp = ({ warmingUp, supportCheck }: CompletedRecall) => warmingUp === true || supportCheck === 'warming_up';

/** Null while warming up: what a check says about half a memory is no verdict that memory lacks the answer. */
function supportField(recall: CompletedRecall): SupportField | null {
  const { supportCheck: check } = recall;
  if (!check || check === 'warming_up' || isWarmingUp(recall)) return null;
  const probabilities = check.probabilities.map(bounded);
  return {
    status: check.tier === 'supported' ? 'supported' : 'unsupported',
    best_score: probabilities.length > 0 ? Math.max(...probabilities) : null,
    threshold: check.threshold,
    recipe_version: check.recipeVersion,
    weak_shown: check.weakShown,
    tier: check.tier,
    probabilities,
  };
}

/** Why memory abstains, the first reason that applies; null when it does not. Supported recalls never abstain. */
function abstentionReason(
  recall: CompletedRecall,
  judgement: Judgement | undefined,
  support: SupportField | null,
): AbstentionReason {
  const insufficient = judgement?.sufficient === false;
  const unsupported = support?.status === 'unsupported';
  const abstained = support?.status !== 'supported' && (recall.resultCount === 0 || insufficient || unsupported);
  if (!abstained) return null;
  if (insufficient) return 'judged_insufficient';
  if (unsupported && support.probabilities.length > 0) return 'unsupported';
  if (recall.resultCount > 0) return 'judged_insufficient';
  if (recall.removedByFloor > 0 && recall.removedByFloor >= recall.candidateCount) return 'evidence_floor';
  return 'no_candidates';
}

function abstentionNote(resultCount: number, reason: AbstentionReason, support: SupportField | null): string {
  if (resultCount > 0) return notes.closestShown;
  if (support?.tier === 'related') return notes.closestWithheld;
  return reason === 'evidence_floor' || reason === 'no_candidates' ? notes.nothingMatched : notes.notInMemory;
}

function rerankerFields(
  reranker: CompletedRecall['reranker'],
): Pick<ResponseFields, 'reranker_status' | 'local_reranker_status'> {
  const status = closed(rerankerStatuses, reranker?.status);
  const replaced = status === 'jev_listwise';
  return { reranker_status: status, local_reranker_status: replaced ? closed(localRerankerStatuses, reranker?.localStatus) : '' };
}

function layerFields(layers: Layers | undefined): Pick<ResponseFields, 'layers'> {
  return layers && (layers.depth !== 1 || layers.max_tokens !== null) ? { layers } : {};
}

function channelFields(channels: CompletedRecall['channels']): Pick<ResponseFields, 'channel_status' | 'incomplete_channels'> {
  return channels ? { channel_status: channels.status, incomplete_channels: [...channels.incomplete].sort() } : {};
}
