/**
 * How procedures are ranked: `total = similarityWeight * similarity + successRateWeight * success rate + freshnessWeight * freshness`.
 * Ranges and defaults are those of the procedure ranking page in `docs/`.
 */
export interface RankingOptions {
  /** 0 to 1; the three weights add up to 1 within 1e-9. */
  readonly similarityWeight: number;
  readonly successRateWeight: number;
  readonly freshnessWeight: number;
  /** 0 to 1: candidates less similar than this are dropped before scoring. */
  readonly minSimilarity: number;
  /** Finite and above 0: how many runs the prior counts for. */
  readonly priorWeight: number;
  /** 0 to 1: what a run counts for that only its agent judged. */
  readonly agentVerdictWeight: number;
  /** Above 0, days: freshness halves in this time. */
  readonly freshnessHalfLifeDays: number;
}

export const defaultRankingOptions: RankingOptions = {
  similarityWeight: 0.5,
  successRateWeight: 0.3,
  freshnessWeight: 0.2,
  minSimilarity: 0.5,
  priorWeight: 5,
  agentVerdictWeight: 0.5,
  freshnessHalfLifeDays: 30,
};

const shares = ['similarityWeight', 'successRateWeight', 'freshnessWeight', 'minSimilarity', 'agentVerdictWeight'] as const;
const positives = ['priorWeight', 'freshnessHalfLifeDays'] as const;

/** Every rule the options break, in words; empty when they are valid. */
export function rankingOptionsProblems(options: RankingOptions): string[] {
  const problems = [
    ...shares.filter((name) => !(options[name] >= 0 && options[name] <= 1)).map((name) => `${name} must be from 0 to 1`),
    ...positives
      .filter((name) => !(Number.isFinite(options[name]) && options[name] > 0))
      .map((name) => `${name} must be finite and above 0`),
  ];
  const sum = options.similarityWeight + options.successRateWeight + options.freshnessWeight;
  if (!(Math.abs(sum - 1) <= 1e-9))
    problems.push(`similarityWeight, successRateWeight and freshnessWeight must add up to 1, not ${sum}`);
  return problems;
}
