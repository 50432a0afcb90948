import { bounded } from './bounded.js';
import { type RankingOptions } from './ranking-options.js';

/**
 * Which stored procedures are most worth trying for a question, by similarity, success rate and freshness.
 *
 * Nothing here knows the time or a database: candidates, options and "now" come in, so that the same call ranks for
 * today and for any earlier moment. The formulas, and why they are so, are in `docs/procedure-ranking.md`.
 */

/** What a procedure's runs add up to. Whole numbers from 0; a run is judged when a human or an evaluator gave the verdict. */
export interface JudgedCounters {
  /** All runs, also those whose executions were pruned. */
  readonly runs: number;
  readonly successes: number;
  /** Runs with a judged verdict that are still stored. The rest count as agent-only. */
  readonly judged_runs: number;
  readonly judged_successes: number;
  /** When the latest run happened; null when there never was one, and not read while `runs` is 0. */
  readonly last_run_at: Date | null;
}

export interface Candidate {
  readonly id: string;
  /** Cosine similarity of the question and the stored question, 0 to 1. */
  readonly similarity: number;
  readonly counters: JudgedCounters;
  /** Counters of the version this one replaces; undefined for a root, and when the parent was erased. */
  readonly parentCounters?: JudgedCounters | undefined;
}

/** Each of the four from 0 to 1. */
export interface ProcedureScore {
  readonly similarity: number;
  readonly success_rate: number;
  readonly freshness: number;
  readonly total: number;
}

/** What the success rate rests on. Shown beside the score, never part of it. */
export interface ProcedureEvidence {
  readonly runs: number;
  readonly judged_runs: number;
  /** True exactly when the parent's rate was better than neutral and so became the prior. */
  readonly uses_parent_prior: boolean;
}

export interface ProcedureMatch {
  readonly id: string;
  readonly score: ProcedureScore;
  readonly evidence: ProcedureEvidence;
}

export interface RankedProcedures {
  /** Best first, at most `top`. */
  readonly matches: readonly ProcedureMatch[];
  /** Candidates that came in, before the cut-off. */
  readonly candidateCount: number;
  /** How many of them were less similar than the cut-off. */
  readonly removedByCutOff: number;
}

/** A candidate that cannot be: a bug of the adapter that found it, never the caller's input. */
export class InvalidCandidate extends Error {
  readonly code = 'adapter_defect';

  constructor(id: string, problem: string) {
    super(`candidate ${id}: ${problem}`);
    this.name = 'InvalidCandidate';
  }
}

export const isInvalidCandidate = (error: unknown): error is InvalidCandidate => error instanceof InvalidCandidate;

/** The success rate of a procedure of which nothing is known. */
export const neutralPrior = 0.5;

/** Single-precision vectors give cosines a little beyond 0 and 1; up to this much is rounding, more is a bug. */
export const similarityTolerance = 1e-6;

const millisecondsPerDay = 86_400_000;

/**
 * Share of runs that succeeded, 0 to 1, pulled towards `prior` as if that had been seen in `priorWeight` further runs:
 * `(weighted successes + priorWeight * prior) / (weighted runs + priorWeight)`, where a judged run weighs 1 and an
 * agent-only run `agentVerdictWeight`. Without runs it is the prior.
 */
export function successRate(counters: JudgedCounters, prior: number, options: RankingOptions): number {
  const weighted = (all: number, judged: number) => judged + options.agentVerdictWeight * (all - judged);
  const successes = weighted(counters.successes, counters.judged_successes);
  const runs = weighted(counters.runs, counters.judged_runs);
  return bounded((successes + options.priorWeight * prior) / (runs + options.priorWeight));
}

/**
 * What a version's rate starts from, 0.5 to 1: its parent's own rate, if better than neutral. It never lowers, because a
 * version of a failing procedure is usually its fix. One level only: the parent's rate starts from neutral itself.
 */
export function prior(parentCounters: JudgedCounters | undefined, options: RankingOptions): number {
  return parentCounters ? Math.max(successRate(parentCounters, neutralPrior, options), neutralPrior) : neutralPrior;
}

/**
 * `0.5 ^ (days since the last run / half-life)`, 0 to 1. A last run after `now` (the clocks of two hosts differ) gives 1;
 * no run at all gives 0, since there is nothing recent to speak for the procedure.
 */
export function freshness(lastRunAt: Date | null, now: Date, halfLifeDays: number): number {
  if (!lastRunAt) return 0;
  const days = Math.max(0, now.getTime() - lastRunAt.getTime()) / millisecondsPerDay;
  return 0.5 ** (days / halfLifeDays);
}

/** Score and evidence of one valid candidate; see `candidateProblem`. */
export function scoreProcedure(candidate: Candidate, now: Date, options: RankingOptions): ProcedureMatch {
  const { counters, parentCounters } = candidate;
  const startingRate = prior(parentCounters, options);
  const similarity = bounded(candidate.similarity);
  const success_rate = successRate(counters, startingRate, options);
  const fresh = freshness(counters.runs > 0 ? counters.last_run_at : null, now, options.freshnessHalfLifeDays);
  // Bounded, because weights may add up to 1e-9 more than 1.
  const total = bounded(
    options.similarityWeight * similarity + options.successRateWeight * success_rate + options.freshnessWeight * fresh,
  );
  return {
    id: candidate.id,
    score: { similarity, success_rate, freshness: fresh, total },
    evidence: { runs: counters.runs, judged_runs: counters.judged_runs, uses_parent_prior: startingRate > neutralPrior },
  };
}

/** Why a candidate cannot be, in words without content; undefined when it can. */
export function candidateProblem(candidate: Candidate): string | undefined {
  const { similarity, counters, parentCounters } = candidate;
  if (!Number.isFinite(similarity)) return 'similarity is not a finite number';
  if (similarity < -similarityTolerance || similarity > 1 + similarityTolerance) return 'similarity is not from 0 to 1';
  const problem = countersProblem(counters);
  if (problem) return problem;
  const parentProblem = parentCounters && countersProblem(parentCounters);
  return parentProblem && `parent: ${parentProblem}`;
}

function countersProblem(counters: JudgedCounters): string | undefined {
  const { runs, successes, judged_runs, judged_successes, last_run_at } = counters;
  const wrong = Object.entries({ runs, successes, judged_runs, judged_successes }).find(
    ([, count]) => !Number.isSafeInteger(count) || count < 0,
  );
  if (wrong) return `${wrong[0]} is not a whole number from 0`;
  if (successes > runs) return 'successes exceed runs';
  if (judged_runs > runs) return 'judged_runs exceed runs';
  if (judged_successes > judged_runs) return 'judged_successes exceed judged_runs';
  if (judged_successes > successes) return 'judged_successes exceed successes';
  if (judged_runs - judged_successes > runs - successes) return 'judged failures exceed failures';
  if (runs > 0 && !last_run_at) return 'last_run_at is missing although there are runs';
  if (runs > 0 && Number.isNaN(last_run_at?.getTime())) return 'last_run_at is not a time';
  return undefined;
}

/**
 * The best `top` of the candidates that are at least `minSimilarity` similar (default: the option's): highest total
 * first, then highest similarity, then id by code unit, so that equal data always comes in the same order.
 *
 * @throws InvalidCandidate for a candidate that cannot be, also below the cut-off, and for an id that comes twice
 */
export function rankProcedures(
  candidates: readonly Candidate[],
  query: {
    readonly now: Date;
    readonly options: RankingOptions;
    readonly minSimilarity?: number | undefined;
    readonly top: number;
  },
): RankedProcedures {
  refuseInvalid(candidates);
  const cutOff = query.minSimilarity ?? query.options.minSimilarity;
  const kept = candidates.filter(({ similarity }) => bounded(similarity) >= cutOff);
  const matches = kept.map((candidate) => scoreProcedure(candidate, query.now, query.options)).sort(bestFirst);
  return {
    matches: matches.slice(0, query.top),
    candidateCount: candidates.length,
    removedByCutOff: candidates.length - kept.length,
  };
}

function refuseInvalid(candidates: readonly Candidate[]): void {
  const seen = new Set<string>();
  for (const candidate of candidates) {
    const problem = seen.has(candidate.id) ? 'it comes twice' : candidateProblem(candidate);
    if (problem) throw new InvalidCandidate(candidate.id, problem);
    seen.add(candidate.id);
  }
}

function bestFirst(a: ProcedureMatch, b: ProcedureMatch): number {
  return b.score.total - a.score.total || b.score.similarity - a.score.similarity || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
}
