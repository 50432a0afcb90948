import { aborted, withDeadline, type Wait } from '../embedding/deadline.js';
import { AdapterDefect, DependencyUnavailable, exceptionType } from '../embedding/errors.js';
import { isSlug, slugRule } from '../slug.js';
import { codePoints } from '../text.js';
import type { Evaluator, JudgedRun } from './evaluator.js';
import type { IntentExtractor } from './intent-extractor.js';

/** Code points of the longest answer that is judged. */
export const longestJudgedAnswer = 32_000;

/** The verdict that counts for a run, when the judge gave one. */
export interface EvaluatorVerdict {
  readonly source: 'evaluator';
  readonly success: boolean;
}

export interface IntentWait extends Wait {
  /** Least confidence, 0 to 1, at which the intent is used. */
  readonly minConfidence: number;
}

/** Whether an answer is judged and kept: not blank, at most 32,000 Unicode code points (not UTF-16 units). */
export function judgeable(answer: string): boolean {
  if (answer.trim() === '') return false;
  // A code point is at most two UTF-16 units: a text that is longer still needs no count.
  return answer.length <= 2 * longestJudgedAnswer && codePoints(answer) <= longestJudgedAnswer;
}

/**
 * The intent of a question, or undefined when the extractor is not sure enough.
 *
 * Recall turns `intent_unavailable` into a search over every intent; remember passes it on, so that a guess is never stored.
 *
 * @throws DependencyUnavailable (`intent_unavailable`) when the extractor is down; detail: the exception's type, or none
 *   when the extractor itself said that it is down
 * @throws AdapterDefect for an intent that is no slug, a confidence outside 0 to 1, and whatever defect the adapter reports
 * @throws DOMException `AbortError` when the caller's own signal fires
 */
export async function askIntent(extractor: IntentExtractor, question: string, wait: IntentWait): Promise<string | undefined> {
  const answer = await asked((signal) => extractor.extract(question, signal), wait, 'intent_unavailable');
  const { intent, confidence } = fields(answer);
  if (!isSlug(intent)) throw new AdapterDefect('intent extractor', `intent must be ${slugRule}`);
  if (typeof confidence !== 'number' || !(confidence >= 0 && confidence <= 1)) {
    throw new AdapterDefect('intent extractor', 'confidence must be a number from 0 to 1');
  }
  return confidence >= wait.minConfidence ? intent : undefined;
}

/**
 * The judge's verdict on a run, or undefined when the judge is down: the run then keeps its agent's verdict.
 *
 * @throws AdapterDefect for a verdict that is not true or false, and whatever defect the adapter reports
 * @throws DOMException `AbortError` when the caller's own signal fires
 */
export async function askEvaluator(evaluator: Evaluator, run: JudgedRun, wait: Wait): Promise<EvaluatorVerdict | undefined> {
  let answer: unknown;
  try {
    answer = await asked((signal) => evaluator.judge(run, signal), wait, 'evaluator_unavailable');
  } catch (error) {
    if (error instanceof DependencyUnavailable) return undefined;
    throw error;
  }
  const { success } = fields(answer);
  if (typeof success !== 'boolean') throw new AdapterDefect('evaluator', 'success must be true or false');
  return { source: 'evaluator', success };
}

async function asked(
  ask: (signal: AbortSignal) => Promise<unknown>,
  wait: Wait,
  code: 'intent_unavailable' | 'evaluator_unavailable',
): Promise<unknown> {
  try {
    return await withDeadline(ask, wait);
  } catch (error) {
    if (wait.signal?.aborted) throw aborted();
    if (error instanceof AdapterDefect) throw error;
    throw new DependencyUnavailable(code, error instanceof DependencyUnavailable ? undefined : exceptionType(error));
  }
}

const fields = (answer: unknown): Readonly<Record<string, unknown>> =>
  typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
