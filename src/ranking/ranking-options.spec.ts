import { defaultRankingOptions, rankingOptionsProblems, type RankingOptions } from './ranking-options.js';

const problems = (changes: Partial<RankingOptions>) => rankingOptionsProblems({ ...defaultRankingOptions, ...changes });

const outside01 = [-0.001, 1.001, -1, 2, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
const notPositive = [0, -1, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];

describe('ranking options', () => {
  it('are the documented ones by default, and valid', () => {
    expect(defaultRankingOptions).toEqual({
      similarityWeight: 0.5,
      successRateWeight: 0.3,
      freshnessWeight: 0.2,
      minSimilarity: 0.5,
      priorWeight: 5,
      agentVerdictWeight: 0.5,
      freshnessHalfLifeDays: 30,
    });
    expect(problems({})).toEqual([]);
  });

  describe.each(['similarityWeight', 'successRateWeight', 'freshnessWeight'] as const)('%s', (name) => {
    it.each(outside01)('may not be %d', (value) => {
      expect(problems({ [name]: value })).toContain(`${name} must be from 0 to 1`);
    });

    it('may be 1 when the other weights are 0', () => {
      expect(problems({ similarityWeight: 0, successRateWeight: 0, freshnessWeight: 0, [name]: 1 })).toEqual([]);
    });
  });

  describe.each(['minSimilarity', 'agentVerdictWeight'] as const)('%s', (name) => {
    it.each(outside01)('may not be %d', (value) => {
      expect(problems({ [name]: value })).toEqual([`${name} must be from 0 to 1`]);
    });

    it.each([0, 0.25, 1])('may be %d', (value) => {
      expect(problems({ [name]: value })).toEqual([]);
    });
  });

  describe.each(['priorWeight', 'freshnessHalfLifeDays'] as const)('%s', (name) => {
    it.each(notPositive)('may not be %d', (value) => {
      expect(problems({ [name]: value })).toEqual([`${name} must be finite and above 0`]);
    });

    it.each([Number.MIN_VALUE, 0.5, 1e6])('may be %d', (value) => {
      expect(problems({ [name]: value })).toEqual([]);
    });
  });

  describe('the three weights', () => {
    it.each([0.9e-9, -0.9e-9])('may miss 1 by %d', (difference) => {
      expect(problems({ similarityWeight: 0.5 + difference })).toEqual([]);
    });

    it.each([1.1e-9, -1.1e-9, 0.1, -0.5])('may not miss 1 by %d', (difference) => {
      expect(problems({ similarityWeight: 0.5 + difference })).toEqual([
        expect.stringMatching(/^similarityWeight, successRateWeight and freshnessWeight must add up to 1, not \d/),
      ]);
    });

    it('add up without the agent verdict weight, which is not one of them', () => {
      expect(problems({ agentVerdictWeight: 1 })).toEqual([]);
    });
  });

  it('name every rule they break', () => {
    expect(problems({ similarityWeight: 2, minSimilarity: -1, priorWeight: 0 })).toEqual([
      'similarityWeight must be from 0 to 1',
      'minSimilarity must be from 0 to 1',
      'priorWeight must be finite and above 0',
      'similarityWeight, successRateWeight and freshnessWeight must add up to 1, not 2.5',
    ]);
  });
});
