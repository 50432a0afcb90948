import { bounded } from '../bounded.js';
import { bestFirst, type Branch, branches, fuse, type Fused, type FusionRule } from '../fusion/fusion.js';
import { type DegradedBranch } from '../profiles/degradation.js';
import { type EvidenceProfile } from '../profiles/evidence-profile.js';
import { type ParsedQuery } from '../query/parse-query.js';
import { adjust, type AppliedAdjustment } from '../rerank/adjustments.js';
import { candidateSignals, newestOf } from './candidate-signals.js';
import { type ContextShare } from './context.js';
import { type EvidenceReads } from './evidence-reads.js';
import { type EvidenceRequest } from './evidence-request.js';
import { findCandidates, type Found } from './find-candidates.js';

export interface BranchShare {
  readonly branch: Branch;
  /** From 1. */
  readonly rank: number;
  /** The branch's own: matches, BM25, cosine, or context. */
  readonly score: number;
}

/** One candidate, with everything that decided its place. */
export interface RankedEvidence {
  readonly id: string;
  /** What the order goes by; comparable within one ranking. */
  readonly score: number;
  /** 0 to 1: the fused score as a share of the greatest that the profile can give. Not a probability. */
  readonly relevance: number;
  readonly branches: readonly BranchShare[];
  readonly fused: number;
  readonly bestRank: number;
  readonly context: ContextShare | undefined;
  readonly adjustments: readonly AppliedAdjustment[];
  readonly contextBytes: number;
}

export type EmptyReason = 'no_candidates' | 'hard_anchors';

export interface EvidenceRanking {
  /** Best first, all candidates; `cut` takes the answer from them. */
  readonly ranked: readonly RankedEvidence[];
  /** Why there are none; null when there are some. `hard_anchors`: nothing has every anchor that the question requires. */
  readonly empty: EmptyReason | null;
  /** Candidates that a branch found and that lack a required anchor, or vanished between two queries. */
  readonly dropped: readonly { readonly id: string; readonly reason: 'hard_anchors' | 'vanished' }[];
  readonly degraded: readonly DegradedBranch[];
  readonly query: ParsedQuery;
  readonly profile: { readonly name: string; readonly version: number };
}

/**
 * Ranks evidence for one question: finds candidates by the profile's branches, fuses the branches, adds context, and
 * adjusts. The store is read in the order that `EvidenceReads` states; everything else is computed here, and follows from
 * the request, the profile and what the store said.
 *
 * @throws BranchFailed when a branch fails that the profile requires
 */
export async function rankEvidence(
  reads: EvidenceReads,
  request: EvidenceRequest,
  profile: EvidenceProfile,
): Promise<EvidenceRanking> {
  const found = await findCandidates(reads, request, profile);
  const ranked = rankFound(found, profile);
  return {
    ranked,
    empty: ranked.length > 0 ? null : found.query.anchors.hard.length > 0 ? 'hard_anchors' : 'no_candidates',
    dropped: found.dropped,
    degraded: found.degraded,
    query: found.query,
    profile: { name: profile.name, version: profile.version },
  };
}

function rankFound(found: Found, profile: EvidenceProfile): RankedEvidence[] {
  const fused = fuse(found.results, profile.fusion);
  const facts = new Map(found.candidates.map((candidate) => [candidate.id, candidate]));
  const scores = new Map(
    found.results.map(({ branch, entries }) => [branch, new Map(entries.map(({ id, score }) => [id, score]))]),
  );
  const signalContext = {
    query: found.query,
    statistics: found.statistics,
    newest: newestOf(found.candidates),
  };
  const greatest = greatestFused(profile);
  const ranked = fused.flatMap((one): RankedEvidence[] => {
    const candidate = facts.get(one.id);
    if (!candidate) return [];
    const { score, applied } = adjust(one.score, candidateSignals(candidate, signalContext), profile.gains);
    return [
      {
        id: one.id,
        score,
        relevance: bounded(one.score / greatest),
        branches: sharesOf(one, scores),
        fused: one.score,
        bestRank: one.bestRank,
        context: found.context.get(one.id),
        adjustments: applied,
        contextBytes: candidate.contextBytes,
      },
    ];
  });
  return ranked.sort(bestFirst);
}

function sharesOf({ id, ranks }: Fused, scores: ReadonlyMap<Branch, ReadonlyMap<string, number>>): BranchShare[] {
  return branches.flatMap((branch) => {
    const rank = ranks.get(branch);
    return rank === undefined ? [] : [{ branch, rank, score: scores.get(branch)?.get(id) ?? 0 }];
  });
}

/** The score of a candidate that is the best of every branch. */
function greatestFused({ fusion, branches: uses, context }: EvidenceProfile): number {
  const used = branches.filter((branch) => uses[branch] !== 'off');
  const sum = (rule: Exclude<FusionRule, { mode: 'priority' }>, of: readonly Branch[]) =>
    of.reduce((whole, branch) => whole + (rule.weights[branch] ?? 0), 0);
  switch (fusion.mode) {
    case 'priority':
      return 1;
    case 'rrf':
      return sum(fusion, used) / (fusion.k + 1);
    case 'convex': {
      const own = sum(
        fusion,
        used.filter((branch) => branch !== 'context'),
      );
      const around = context.adjacent * context.answering + context.second + context.group;
      return own * (1 + (uses.context === 'off' ? 0 : (fusion.weights.context ?? 0) * around));
    }
    default:
      return fusion satisfies never;
  }
}
