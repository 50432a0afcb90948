import { type IssueKeyRule } from '../anchors/anchors.js';
import { type Bm25Options } from '../evidence/bm25.js';
import { type Branch, branches, type FusionRule } from '../fusion/fusion.js';
import { type AdjustmentGains, adjustments, leastGain, mostGain } from '../rerank/adjustments.js';

/** required: the recall fails without it. optional: the recall goes on, and the branch is named as degraded. */
export type BranchUse = 'required' | 'optional' | 'off';
export const branchUses: readonly BranchUse[] = ['required', 'optional', 'off'];

export interface PoolRule {
  /** Candidates taken of each branch for each result wanted. */
  readonly perResult: number;
  readonly least: number;
  readonly most: number;
}

/** How much of its surroundings' scores evidence gets. Shares of 0 to 1. */
export interface ContextRule {
  /** Of the better of its neighbours at distance 1. */
  readonly adjacent: number;
  /** Of the better of those at distance 2. */
  readonly second: number;
  /** Of the mean of its group's best. */
  readonly group: number;
  /** How many best of a group count, 1 to 10. */
  readonly groupBest: number;
  /** 1 to 3: how much more the score of the evidence before it counts when that asks a question. */
  readonly answering: number;
}

/** How evidence is ranked: data, so that another ranking needs no code. The same question, data and profile give the same answer. */
export interface EvidenceProfile {
  /** Lower case, digits and hyphens. */
  readonly name: string;
  /** Raised with every change of the profile. */
  readonly version: number;
  readonly branches: Readonly<Record<Branch, BranchUse>>;
  readonly fusion: FusionRule;
  readonly bm25: Bm25Options;
  readonly pool: PoolRule;
  readonly context: ContextRule;
  readonly gains: AdjustmentGains;
  readonly issueKeys: IssueKeyRule;
}

/** Over-fetch of the seed: 6 times the limit, at least 60, at most 200. */
const pool: PoolRule = { perResult: 6, least: 60, most: 200 };

const noGains: AdjustmentGains = {
  exact_match: 0,
  all_anchors: 0,
  phrase: 0,
  fact_support: 0,
  source_groups: 0,
  currentness: 0,
  temporal_intent: 0,
  named_author: 0,
  tells_time: 0,
  only_asks: 0,
};

/** The plain ranking: reciprocal ranks of exact, text and vector, then what the question itself says. */
export const evidenceProfile: EvidenceProfile = {
  name: 'evidence',
  version: 1,
  branches: { exact: 'required', text: 'required', vector: 'optional', context: 'off' },
  fusion: { mode: 'rrf', k: 60, weights: { exact: 1, text: 1, vector: 0.1 } },
  bm25: { k1: 0.9, b: 0.4 },
  pool,
  context: { adjacent: 0, second: 0, group: 0, groupBest: 3, answering: 1 },
  gains: {
    ...noGains,
    exact_match: 0.5,
    all_anchors: 0.25,
    phrase: 0.2,
    fact_support: 0.1,
    source_groups: 0.1,
    currentness: 0.2,
    temporal_intent: 0.5,
  },
  issueKeys: 'hard',
};

/** The default, tuned on conversations: `docs/evidence-ranking.md` says how, and what each part is worth. */
export const balancedProfile: EvidenceProfile = {
  name: 'balanced',
  version: 1,
  branches: { exact: 'required', text: 'required', vector: 'optional', context: 'optional' },
  fusion: { mode: 'convex', weights: { exact: 1, text: 0.55, vector: 0.45, context: 1 } },
  bm25: { k1: 0.9, b: 0.4 },
  pool,
  context: { adjacent: 0.35, second: 0.15, group: 0.2, groupBest: 3, answering: 2 },
  gains: {
    exact_match: 0.5,
    all_anchors: 0.25,
    phrase: 0.1,
    fact_support: 0.1,
    source_groups: 0.1,
    currentness: 0.1,
    temporal_intent: 1,
    named_author: 0.5,
    tells_time: 0.2,
    only_asks: -0.1,
  },
  issueKeys: 'hard',
};

export const builtInEvidenceProfiles: readonly EvidenceProfile[] = [balancedProfile, evidenceProfile];

/** Candidates to take of each branch. Known ids take part in the ranking without taking a place, so the pool grows with them. */
export function poolSize({ perResult, least, most }: PoolRule, limit: number, known = 0): number {
  return Math.min(most, Math.max(least, perResult * limit)) + known;
}

interface Range {
  readonly from: number;
  readonly to: number;
}

const share: Range = { from: 0, to: 1 };
const contextRanges: Readonly<Record<keyof ContextRule, Range>> = {
  adjacent: share,
  second: share,
  group: share,
  groupBest: { from: 1, to: 10 },
  answering: { from: 1, to: 3 },
};
const poolRanges: Readonly<Record<keyof PoolRule, Range>> = {
  perResult: { from: 1, to: 20 },
  least: { from: 1, to: 200 },
  most: { from: 1, to: 200 },
};
/** What a weak signal may do; lowering is for signals that speak against evidence. */
const lowering: readonly string[] = ['only_asks'];

/** Every rule a profile breaks, in words, each beginning with the field; empty when it is valid. */
export function profileProblems(profile: EvidenceProfile): string[] {
  return [
    ...(/^[a-z][a-z0-9-]{0,62}$/.test(profile.name)
      ? []
      : ['name must be lower case letters, digits and hyphens, at most 63, beginning with a letter']),
    ...(Number.isSafeInteger(profile.version) && profile.version >= 1 ? [] : ['version must be a whole number from 1']),
    ...branchProblems(profile),
    ...fusionProblems(profile),
    ...outside('bm25.k1', profile.bm25.k1, { from: 0, to: 10 }),
    ...outside('bm25.b', profile.bm25.b, share),
    ...ranged('pool', profile.pool, poolRanges, ['perResult', 'least', 'most']),
    ...(profile.pool.least > profile.pool.most ? ['pool.least must not exceed pool.most'] : []),
    ...ranged('context', profile.context, contextRanges, ['groupBest']),
    ...adjustments.flatMap((name) => outside(`gains.${name}`, profile.gains[name], gainRange(name))),
    ...unknownNames('gains', profile.gains, adjustments),
    ...(['hard', 'ranking'].includes(profile.issueKeys) ? [] : ['issueKeys must be hard or ranking']),
  ];
}

const gainRange = (name: string): Range => (lowering.includes(name) ? { from: leastGain, to: 0 } : { from: 0, to: mostGain });

function branchProblems({ branches: its }: EvidenceProfile): string[] {
  const wrong = branches.filter((branch) => !branchUses.includes(its[branch]));
  const ranks = branches.some((branch) => branch !== 'context' && its[branch] !== 'off');
  return [
    ...wrong.map((branch) => `branches.${branch} must be required, optional or off`),
    ...unknownNames('branches', its, branches),
    ...(ranks ? [] : ['branches must use exact, text or vector: context only adds to what they find']),
  ];
}

function fusionProblems({ fusion, branches: uses }: EvidenceProfile): string[] {
  const used = branches.filter((branch) => uses[branch] !== 'off');
  switch (fusion.mode) {
    case 'rrf':
      return [...outside('fusion.k', fusion.k, { from: 1, to: 1_000 }), ...weightProblems(fusion.weights, used)];
    case 'convex':
      return weightProblems(fusion.weights, used);
    case 'priority': {
      const missing = used.filter((branch) => !fusion.order.includes(branch));
      return [
        ...missing.map((branch) => `fusion.order must name ${branch}, which is used`),
        ...(new Set(fusion.order).size === fusion.order.length ? [] : ['fusion.order must name no branch twice']),
        ...fusion.order
          .filter((branch) => !branches.includes(branch))
          .map((branch) => `fusion.order: there is no branch ${branch}`),
      ];
    }
    default:
      fusion satisfies never;
      return ['fusion.mode must be rrf, priority or convex'];
  }
}

function weightProblems(weights: Readonly<Partial<Record<Branch, number>>>, used: readonly Branch[]): string[] {
  return [
    ...used.flatMap((branch) => outside(`fusion.weights.${branch}`, weights[branch], { from: 0, to: 10 })),
    ...unknownNames('fusion.weights', weights, branches),
    ...(used.some((branch) => branch !== 'context' && (weights[branch] ?? 0) > 0)
      ? []
      : ['fusion.weights must be above 0 for a branch other than context']),
  ];
}

function ranged<T extends object>(
  name: string,
  values: T,
  ranges: Readonly<Record<keyof T & string, Range>>,
  whole: readonly string[],
): string[] {
  return (Object.keys(ranges) as (keyof T & string)[]).flatMap((key) => {
    const value = values[key];
    const problems = outside(`${name}.${key}`, value, ranges[key]);
    return problems.length === 0 && whole.includes(key) && !Number.isSafeInteger(value)
      ? [`${name}.${key} must be a whole number`]
      : problems;
  });
}

function outside(name: string, value: unknown, { from, to }: Range): string[] {
  return typeof value === 'number' && value >= from && value <= to ? [] : [`${name} must be a number from ${from} to ${to}`];
}

function unknownNames(name: string, values: object, known: readonly string[]): string[] {
  return Object.keys(values)
    .filter((key) => !known.includes(key))
    .map((key) => `${name}: there is no ${key}`);
}
