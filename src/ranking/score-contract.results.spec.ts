import fc from 'fast-check';
import { finaliseScores, type RankedResult } from './score-contract.results.js';

const result = (relevance_score: unknown, others: Partial<RankedResult> = {}): RankedResult => ({
  relevance_score,
  ranking_score: 1,
  ...others,
});
const only = (ranked: RankedResult) => {
  const [finalised] = finaliseScores([ranked]);
  if (!finalised) throw new Error('a result was lost');
  return finalised;
};

describe('finalised scores', () => {
  it('keep the order of the list, whatever the scores say', () => {
    const finalised = finaliseScores([
      { id: 'first', ...result(0.3, { ranking_score: 1 }) },
      { id: 'second', ...result(0.8, { ranking_score: 2 }) },
    ]);
    expect(finalised.map(({ id, relevance_score, rank_position }) => [id, relevance_score, rank_position])).toEqual([
      ['first', 0.3, 1],
      ['second', 0.8, 2],
    ]);
  });

  it.each([
    [Number.NaN, 0],
    [Number.POSITIVE_INFINITY, 0],
    [Number.NEGATIVE_INFINITY, 0],
    ['0.9', 0],
    [undefined, 0],
    [-1, 0],
    [7, 1],
    [0.42, 0.42],
  ])('bound relevance and memory confidence: %p becomes %d', (value, expected) => {
    expect(only(result(value))).toMatchObject({ relevance_score: expected, score: expected });
    expect(only(result(0.5, { memory_confidence: value }))).toMatchObject({ memory_confidence: expected, confidence: expected });
  });

  it.each([-3.5, 0, 0.2, 12, 1e9])('leave the ranking score untouched: %d', (ranking_score) => {
    expect(only(result(0.5, { ranking_score })).ranking_score).toBe(ranking_score);
  });

  it.each([
    [undefined, 0.5],
    [null, 0.5],
    [Number.NaN, 0.5],
    ['high', 0.5],
    [0, 0],
    [0.9, 0.9],
    [-2, 0],
    [3, 1],
  ])('take trust as neutral when nothing is known: %p becomes %d', (trust_score, expected) => {
    expect(only(result(0.5, { trust_score })).trust_score).toBe(expected);
  });

  it.each([
    ['supported', 'supported'],
    ['related', 'related'],
    ['weak', 'weak'],
    ['none', 'related'],
    ['', 'related'],
    [undefined, 'related'],
  ])('label each result from the closed set: %p becomes %s', (tier, expected) => {
    expect(only(result(0.5, { tier })).tier).toBe(expected);
  });

  it('keep what else a result carries', () => {
    expect(finaliseScores([{ ...result(0.5), evidence_id: 'e-1' }])[0]).toEqual({
      evidence_id: 'e-1',
      relevance_score: 0.5,
      ranking_score: 1,
      memory_confidence: 0,
      trust_score: 0.5,
      rank_position: 1,
      tier: 'related',
      score: 0.5,
      confidence: 0,
    });
  });

  it('of an empty list are an empty list', () => {
    expect(finaliseScores([])).toEqual([]);
  });

  it('are bounded, ranked from 1 without gaps and equal to their legacy names, whatever comes in', () => {
    const anyResult = fc.record({
      relevance_score: fc.anything(),
      ranking_score: fc.double(),
      memory_confidence: fc.anything(),
      trust_score: fc.anything(),
      tier: fc.anything(),
    });
    fc.assert(
      fc.property(fc.array(anyResult), (results) => {
        const finalised = finaliseScores(results);
        expect(finalised.map(({ rank_position }) => rank_position)).toEqual(results.map((_, index) => index + 1));
        expect(finalised.map(({ ranking_score }) => ranking_score)).toEqual(results.map(({ ranking_score }) => ranking_score));
        for (const one of finalised) {
          const { relevance_score, memory_confidence, trust_score } = one;
          for (const part of [relevance_score, memory_confidence, trust_score]) expect(part >= 0 && part <= 1).toBe(true);
          expect(one).toMatchObject({ score: relevance_score, confidence: memory_confidence });
        }
      }),
    );
  });
});
