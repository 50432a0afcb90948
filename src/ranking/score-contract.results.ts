import { bounded } from './bounded.js';
import { closed, type ResultTier, resultTiers } from './score-contract.closed-sets.js';

/** Numbers of one result as ranking made them. What is unknown here is checked, not trusted. */
export interface RankedResult {
  /** How relevant the result is to the question; bounded to 0..1. */
  readonly relevance_score: unknown;
  /** What the list was sorted by. Any number; passed on untouched. */
  readonly ranking_score: number;
  /** Confidence stored with the memory itself; bounded to 0..1, 0 when the kind of memory has none. */
  readonly memory_confidence?: unknown;
  /** 0..1; neutral when missing or no number. */
  readonly trust_score?: unknown;
  /** The support check's label; `related`, the safe one, without a check. */
  readonly tier?: unknown;
}

/** The per-result numbers of the contract. None of them is a probability that an answer is right. */
export interface ResultScores {
  readonly relevance_score: number;
  readonly ranking_score: number;
  readonly memory_confidence: number;
  readonly trust_score: number;
  /** From 1, in the order returned. */
  readonly rank_position: number;
  readonly tier: ResultTier;
  /** @deprecated The same as `relevance_score`. */
  readonly score: number;
  /** @deprecated The same as `memory_confidence`. */
  readonly confidence: number;
}

/** Neither for nor against the evidence. */
export const neutralTrust = 0.5;

/**
 * The last step of every recall: gives each result its contract numbers, in the order the list came in.
 *
 * It never sorts. Order is made by ranking scores, which boosts and rerankers move freely; sorting again by relevance
 * would undo them.
 */
export function finaliseScores<R extends RankedResult>(
  results: readonly R[],
): (Omit<R, keyof RankedResult | keyof ResultScores> & ResultScores)[] {
  return results.map((result, index) => {
    const relevance = bounded(result.relevance_score);
    const confidence = bounded(result.memory_confidence);
    const { trust_score: trust } = result;
    return {
      ...result,
      relevance_score: relevance,
      ranking_score: result.ranking_score,
      memory_confidence: confidence,
      trust_score: typeof trust === 'number' && Number.isFinite(trust) ? bounded(trust) : neutralTrust,
      rank_position: index + 1,
      tier: closed(resultTiers, result.tier),
      score: relevance,
      confidence,
    };
  });
}
