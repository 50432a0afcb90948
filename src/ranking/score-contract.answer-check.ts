import {
  type Answerability,
  type AnswerabilityReason,
  type AnswerCheckReason,
  type AnswerCheckStatus,
} from './score-contract.closed-sets.js';

/**
 * What a caller asks of the answer check: empty and `full` run all of it, `no_reorder` only the verdict, `skip` nothing;
 * `context` runs nothing either and leaves out the support check too, for loading context.
 */
export type AnswerCheckRequest = '' | 'full' | 'no_reorder' | 'skip' | 'context';

const requests: readonly AnswerCheckRequest[] = ['', 'full', 'no_reorder', 'skip', 'context'];

export interface AnswerCheckProblem {
  readonly code: 'answer_check_invalid';
  readonly message: string;
}

/** The field or query parameter `answer_check`; missing counts as empty. The message never repeats what was sent. */
export function parseAnswerCheck(value: unknown): AnswerCheckRequest | AnswerCheckProblem {
  const request = requests.find((known) => known === (value ?? ''));
  return request ?? { code: 'answer_check_invalid', message: 'answer_check must be skip, no_reorder or full' };
}

export const isAnswerCheckProblem = (parsed: AnswerCheckRequest | AnswerCheckProblem): parsed is AnswerCheckProblem =>
  typeof parsed !== 'string';

/** What decides whether one recall is checked. */
export interface AnswerCheckFacts {
  readonly configured: boolean;
  readonly request: AnswerCheckRequest;
  /** A recall the service makes for itself. */
  readonly systemRecall: boolean;
  readonly isQuestion: boolean;
  readonly resultCount: number;
  /** A remote judge would read memory of a profile other than the caller's. */
  readonly readsOtherProfile: boolean;
  readonly otherProfileAllowed: boolean;
  /** An identical earlier check is at hand. */
  readonly memo: boolean;
  /** Enough of the recall's time budget is left to ask. */
  readonly timeLeft: boolean;
  readonly judge: 'ready' | 'busy' | 'warming';
}

/** `ask` says that the judge must be asked; any other status is final. */
export interface AnswerCheckDecision {
  readonly status: 'ask' | 'off' | 'skipped' | 'judged' | 'busy' | 'warming';
  readonly reason: AnswerCheckReason;
}

/**
 * Whether to ask the judge about this recall; the first that applies decides. Permission comes before the memo, so that
 * a verdict made while a team allowed it is not used after the team withdrew.
 */
export function answerCheckStatus(facts: AnswerCheckFacts): AnswerCheckDecision {
  if (!facts.configured) return { status: 'off', reason: '' };
  if (facts.request === 'skip' || facts.request === 'context' || facts.systemRecall) return { status: 'skipped', reason: '' };
  if (!facts.isQuestion) return { status: 'skipped', reason: 'not_a_question' };
  if (facts.resultCount === 0) return { status: 'skipped', reason: 'no_results' };
  if (facts.readsOtherProfile && !facts.otherProfileAllowed) return { status: 'skipped', reason: 'other_profile_memory' };
  if (facts.memo) return { status: 'judged', reason: 'reused' };
  if (!facts.timeLeft) return { status: 'skipped', reason: 'budget' };
  return { status: facts.judge === 'ready' ? 'ask' : facts.judge, reason: '' };
}

/** A sentence for a person about a check that did not give a fresh verdict; empty when there is nothing to explain. */
export function answerCheckNote(status: AnswerCheckStatus, reason: AnswerCheckReason): string {
  switch (status) {
    case 'off':
      return '';
    case 'judged':
      return reason === 'reused' ? 'The verdict is that of an identical earlier check.' : '';
    case 'skipped':
      return skippedNote(reason);
    case 'busy':
      return 'Not checked: the answer check was busy with another recall.';
    case 'warming':
      return 'Not checked: the answer check is still loading its model.';
    case 'unavailable':
      return 'Not checked: the answer check could not give a verdict.';
    default:
      return status satisfies never;
  }
}

function skippedNote(reason: AnswerCheckReason): string {
  switch (reason) {
    case 'budget':
      return 'Not checked: too little time was left for this recall.';
    case 'other_profile_memory':
      return 'Not checked: the online answer check would have had to read another profile’s memory.';
    case '':
    case 'not_a_question':
    case 'no_results':
    case 'reused':
      return '';
    default:
      return reason satisfies never;
  }
}

export interface AnswerabilityFields {
  readonly answerability: Answerability;
  readonly answerability_reason: AnswerabilityReason;
}

/** Whether the results were judged to answer the question, and if not judged, why not. `sufficient` is read for `judged` only. */
export function answerability(status: AnswerCheckStatus, reason: AnswerCheckReason, sufficient: boolean): AnswerabilityFields {
  switch (status) {
    case 'judged':
      return {
        answerability: sufficient ? 'supported' : 'unsupported',
        answerability_reason: reason === 'reused' ? 'judged_from_memo' : 'judged_fresh',
      };
    case 'off':
      return { answerability: 'unjudged', answerability_reason: 'disabled' };
    case 'skipped':
      return { answerability: 'unjudged', answerability_reason: skippedBecause(reason) };
    case 'busy':
    case 'warming':
    case 'unavailable':
      return { answerability: 'unjudged', answerability_reason: status };
    default:
      return status satisfies never;
  }
}

function skippedBecause(reason: AnswerCheckReason): AnswerabilityReason {
  switch (reason) {
    case 'budget':
      return 'budget_exhausted';
    case 'other_profile_memory':
      return 'other_profile';
    case 'no_results':
    case 'not_a_question':
      return reason;
    case '': // the caller turned it off for this recall
    case 'reused':
      return 'disabled';
    default:
      return reason satisfies never;
  }
}
