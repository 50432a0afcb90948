import { differences, expectedRanking, type RankedRow } from './story.js';

const changed = (index: number, change: Partial<RankedRow>): RankedRow[] =>
  expectedRanking.map((row, place) => (place === index ? { ...row, ...change } : row));

describe('the check of the demo', () => {
  it('takes numbers that agree to three decimals', () => {
    const precise = changed(0, { similarity: 0.81649658, success_rate: 0.84848485, freshness: 0.99999999, total: 0.86279 });
    expect(differences(precise)).toEqual([]);
  });

  it('names every number that differs', () => {
    expect(differences(changed(2, { success_rate: 0.545, total: 0.8156 }))).toEqual([
      'success_rate of Close match, 1.0 is 0.545 instead of 0.500',
      'total of Close match, 1.0 is 0.816 instead of 0.802',
    ]);
  });

  it('notices another order', () => {
    const [first, second, third] = expectedRanking as [RankedRow, RankedRow, RankedRow];
    expect(differences([second, first, third])).toHaveLength(2);
  });

  it('notices a match too few', () => {
    expect(differences(expectedRanking.slice(1))).toEqual(['2 matches instead of 3']);
  });
});
