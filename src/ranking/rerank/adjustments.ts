/** What may raise or lower evidence after fusion, in the order in which it is applied and explained. */
export const adjustments = [
  'exact_match',
  'all_anchors',
  'phrase',
  'fact_support',
  'source_groups',
  'currentness',
  'temporal_intent',
  'named_author',
  'tells_time',
  'only_asks',
] as const;
export type AdjustmentName = (typeof adjustments)[number];

/**
 * What each may do at most: the factor is `1 + gain x signal`, and the signal is 0 to 1. A negative gain lowers.
 * No single factor leaves .5 to 2, and all together stay within .25 to 4: they refine relevance and never replace it.
 */
export type AdjustmentGains = Readonly<Record<AdjustmentName, number>>;

export const leastGain = -0.5;
export const mostGain = 1;
export const leastFactor = 0.25;
export const mostFactor = 4;

/** How strongly each adjustment applies to one candidate, 0 to 1; what is missing does not apply. */
export type Signals = Readonly<Partial<Record<AdjustmentName, number>>>;

export interface AppliedAdjustment {
  readonly name: AdjustmentName;
  /** 1 changes nothing and is not listed. */
  readonly factor: number;
}

export interface Adjusted {
  readonly score: number;
  readonly applied: readonly AppliedAdjustment[];
}

/** The score times all factors, and what they were. A score of 0 stays 0: nothing is relevant by adjustment alone. */
export function adjust(score: number, signals: Signals, gains: AdjustmentGains): Adjusted {
  const applied = adjustments.flatMap((name) => {
    const factor = factorOf(signals[name] ?? 0, gains[name]);
    return factor === 1 ? [] : [{ name, factor }];
  });
  const product = applied.reduce((whole, { factor }) => whole * factor, 1);
  return { score: score * Math.min(mostFactor, Math.max(leastFactor, product)), applied };
}

function factorOf(signal: number, gain: number): number {
  const bounded = Number.isFinite(signal) ? Math.min(1, Math.max(0, signal)) : 0;
  return 1 + Math.min(mostGain, Math.max(leastGain, gain)) * bounded;
}
