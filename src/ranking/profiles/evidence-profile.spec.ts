import { adjustments } from '../rerank/adjustments.js';
import {
  balancedProfile,
  builtInEvidenceProfiles,
  type EvidenceProfile,
  evidenceProfile,
  poolSize,
  profileProblems,
} from './evidence-profile.js';

const with_ = (changes: object): string[] => profileProblems({ ...balancedProfile, ...changes });

describe('the built-in profiles', () => {
  it.each(builtInEvidenceProfiles.map((profile) => [profile.name, profile] as const))('%s is valid', (_, profile) => {
    expect(profileProblems(profile)).toEqual([]);
  });

  it('are the default and the plain one', () => {
    expect(builtInEvidenceProfiles.map(({ name }) => name)).toEqual(['balanced', 'evidence']);
  });

  it('find the context only in the default', () => {
    expect(evidenceProfile.branches).toEqual({ exact: 'required', text: 'required', vector: 'optional', context: 'off' });
    expect(balancedProfile.branches).toEqual({ exact: 'required', text: 'required', vector: 'optional', context: 'optional' });
  });

  it('have BM25 with k1 .9 and b .4 in the default, and RRF with k 60 in the plain one', () => {
    expect(balancedProfile.bm25).toEqual({ k1: 0.9, b: 0.4 });
    expect(evidenceProfile.fusion).toMatchObject({ mode: 'rrf', k: 60 });
  });

  it('require issue keys', () => {
    expect(builtInEvidenceProfiles.map(({ issueKeys }) => issueKeys)).toEqual(['hard', 'hard']);
  });
});

describe('the pool', () => {
  it.each([
    [1, 60],
    [10, 60],
    [11, 66],
    [20, 120],
    [33, 198],
    [34, 200],
    [50, 200],
  ])('of %d results has %d places', (limit, places) => {
    expect(poolSize(balancedProfile.pool, limit)).toBe(places);
  });

  it('grows by what the caller knows already', () => {
    expect(poolSize(balancedProfile.pool, 10, 200)).toBe(260);
  });
});

describe('a profile', () => {
  it.each<[string, object]>([
    ['name must be lower case letters, digits and hyphens, at most 63, beginning with a letter', { name: 'Mine!' }],
    ['version must be a whole number from 1', { version: 0 }],
    ['version must be a whole number from 1', { version: 1.5 }],
    ['branches.vector must be required, optional or off', { branches: { ...balancedProfile.branches, vector: 'maybe' } }],
    ['branches: there is no hopfield', { branches: { ...balancedProfile.branches, hopfield: 'off' } }],
    [
      'branches must use exact, text or vector: context only adds to what they find',
      {
        branches: { exact: 'off', text: 'off', vector: 'off', context: 'required' },
        fusion: { mode: 'priority', order: ['context'] },
      },
    ],
    [
      'fusion.k must be a number from 1 to 1000',
      { fusion: { mode: 'rrf', k: 0, weights: { exact: 1, text: 1, vector: 1, context: 1 } } },
    ],
    [
      'fusion.weights.vector must be a number from 0 to 10',
      { fusion: { mode: 'convex', weights: { exact: 1, text: 1, context: 1 } } },
    ],
    [
      'fusion.weights.text must be a number from 0 to 10',
      { fusion: { mode: 'convex', weights: { exact: 1, text: -1, vector: 1, context: 1 } } },
    ],
    [
      'fusion.weights: there is no dense',
      { fusion: { mode: 'convex', weights: { exact: 1, text: 1, vector: 1, context: 1, dense: 1 } } },
    ],
    [
      'fusion.weights must be above 0 for a branch other than context',
      { fusion: { mode: 'convex', weights: { exact: 0, text: 0, vector: 0, context: 1 } } },
    ],
    ['fusion.order must name vector, which is used', { fusion: { mode: 'priority', order: ['exact', 'text', 'context'] } }],
    [
      'fusion.order must name no branch twice',
      { fusion: { mode: 'priority', order: ['exact', 'text', 'vector', 'context', 'text'] } },
    ],
    [
      'fusion.order: there is no branch dense',
      { fusion: { mode: 'priority', order: ['exact', 'text', 'vector', 'context', 'dense'] } },
    ],
    ['fusion.mode must be rrf, priority or convex', { fusion: { mode: 'best' } }],
    ['bm25.k1 must be a number from 0 to 10', { bm25: { k1: -1, b: 0.4 } }],
    ['bm25.b must be a number from 0 to 1', { bm25: { k1: 1, b: NaN } }],
    ['pool.perResult must be a number from 1 to 20', { pool: { perResult: 0, least: 60, most: 200 } }],
    ['pool.least must be a whole number', { pool: { perResult: 6, least: 60.5, most: 200 } }],
    ['pool.least must not exceed pool.most', { pool: { perResult: 6, least: 100, most: 60 } }],
    ['context.answering must be a number from 1 to 3', { context: { ...balancedProfile.context, answering: 5 } }],
    ['gains.phrase must be a number from 0 to 1', { gains: { ...balancedProfile.gains, phrase: -0.1 } }],
    ['gains.only_asks must be a number from -0.5 to 0', { gains: { ...balancedProfile.gains, only_asks: 0.1 } }],
    ['gains: there is no tier', { gains: { ...balancedProfile.gains, tier: 1 } }],
    ['issueKeys must be hard or ranking', { issueKeys: 'never' }],
  ])('is refused: %s', (problem, changes) => {
    expect(with_(changes)).toEqual([problem]);
  });

  it('is told everything that is wrong with it at once', () => {
    expect(with_({ version: 0, issueKeys: 'never', bm25: { k1: 1, b: 2 } })).toHaveLength(3);
  });

  it('has a gain for every adjustment', () => {
    const gains = Object.fromEntries(Object.entries(balancedProfile.gains).slice(1)) as EvidenceProfile['gains'];
    expect(with_({ gains })).toEqual([`gains.${adjustments[0]} must be a number from 0 to 1`]);
  });
});
