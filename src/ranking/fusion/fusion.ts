/** Producers of the first ranking. */
export const branches = ['exact', 'text', 'vector', 'context'] as const;
export type Branch = (typeof branches)[number];

export interface BranchEntry {
  readonly id: string;
  /** Comparable within the branch only; the greater the better. */
  readonly score: number;
}

/** What one branch found. */
export interface BranchResult {
  readonly branch: Branch;
  readonly entries: readonly BranchEntry[];
}

export type Weights = Readonly<Partial<Record<Branch, number>>>;

export type FusionRule =
  /** Sum of `weight / (k + rank)`: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion" (SIGIR 2009), with weights. */
  | { readonly mode: 'rrf'; readonly k: number; readonly weights: Weights }
  /** Branches one after the other: each new id, the n-th from 0, gets `1 / (1 + n)`. */
  | { readonly mode: 'priority'; readonly order: readonly Branch[] }
  /** Sum of `weight x score / best score of the branch`. Scores of the context branch are such sums and are taken as they are. */
  | { readonly mode: 'convex'; readonly weights: Weights };

export interface Fused {
  readonly id: string;
  readonly score: number;
  /** Place in each branch that has it, from 1. */
  readonly ranks: ReadonlyMap<Branch, number>;
  readonly bestRank: number;
}

interface Ranked {
  readonly branch: Branch;
  /** Best first, each id once. */
  readonly entries: readonly BranchEntry[];
}

/**
 * One ranking of all branches: highest score, then best rank in any branch, then id, so that equal input gives equal order.
 *
 * An id counts once a branch, with its best score, however often the branch names it. Scores that are no finite numbers
 * count as 0: an overflow must not look like a perfect match.
 */
export function fuse(results: readonly BranchResult[], rule: FusionRule): Fused[] {
  const ranked = results.map(rankOnce);
  const ranks = ranksOf(ranked);
  const scores = scoresOf(ranked, rule);
  return [...ranks]
    .map(([id, its]) => ({ id, score: scores.get(id) ?? 0, ranks: its, bestRank: Math.min(...its.values()) }))
    .sort(bestFirst);
}

/** The order of all rankings here. */
export function bestFirst(
  a: { readonly id: string; readonly score: number; readonly bestRank: number },
  b: { readonly id: string; readonly score: number; readonly bestRank: number },
): number {
  return b.score - a.score || a.bestRank - b.bestRank || byId(a, b);
}

const byId = (a: { readonly id: string }, b: { readonly id: string }) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

function rankOnce({ branch, entries }: BranchResult): Ranked {
  const best = new Map<string, BranchEntry>();
  for (const { id, score } of entries) {
    const finite = Number.isFinite(score) ? score : 0;
    const known = best.get(id);
    if (!known || finite > known.score) best.set(id, { id, score: finite });
  }
  return { branch, entries: [...best.values()].sort((a, b) => b.score - a.score || byId(a, b)) };
}

function ranksOf(ranked: readonly Ranked[]): Map<string, Map<Branch, number>> {
  const ranks = new Map<string, Map<Branch, number>>();
  for (const { branch, entries } of ranked) {
    for (const [index, { id }] of entries.entries()) {
      const its = ranks.get(id) ?? new Map<Branch, number>();
      ranks.set(id, its.set(branch, index + 1));
    }
  }
  return ranks;
}

function scoresOf(ranked: readonly Ranked[], rule: FusionRule): Map<string, number> {
  switch (rule.mode) {
    case 'rrf':
      return summed(ranked, ({ branch }, _, index) => (rule.weights[branch] ?? 0) / (rule.k + index + 1));
    case 'priority':
      return byPriority(ranked, rule.order);
    case 'convex':
      return summed(ranked, ({ branch, entries }, { score }) => (rule.weights[branch] ?? 0) * normalised(score, branch, entries));
    default:
      return rule satisfies never;
  }
}

function summed(
  ranked: readonly Ranked[],
  share: (ranking: Ranked, entry: BranchEntry, index: number) => number,
): Map<string, number> {
  const sums = new Map<string, number>();
  for (const ranking of ranked) {
    for (const [index, entry] of ranking.entries.entries()) {
      sums.set(entry.id, (sums.get(entry.id) ?? 0) + share(ranking, entry, index));
    }
  }
  return sums;
}

/** 0 to 1; what is below 0 (an opposite direction) is no match at all. */
function normalised(score: number, branch: Branch, entries: readonly BranchEntry[]): number {
  if (branch === 'context') return Math.max(0, score);
  const best = entries[0]?.score ?? 0;
  return best > 0 ? Math.max(0, score) / best : 0;
}

function byPriority(ranked: readonly Ranked[], order: readonly Branch[]): Map<string, number> {
  const scores = new Map<string, number>();
  for (const wanted of order) {
    for (const { id } of ranked.find(({ branch }) => branch === wanted)?.entries ?? []) {
      if (!scores.has(id)) scores.set(id, 1 / (1 + scores.size));
    }
  }
  return scores;
}
