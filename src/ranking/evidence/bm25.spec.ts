import fc from 'fast-check';
import { bm25, type CollectionStatistics, inverseDocumentFrequency } from './bm25.js';

const statistics: CollectionStatistics = {
  documents: 100,
  totalLength: 2_000,
  documentFrequencies: new Map([
    ['rare', 1],
    ['common', 60],
    ['impossible', 500],
  ]),
};
const balanced = { k1: 0.9, b: 0.4 };
const score = (length: number, frequencies: Record<string, number>, terms = ['rare', 'common']) =>
  bm25({ length, frequencies: new Map(Object.entries(frequencies)) }, terms, statistics, balanced);

describe('BM25', () => {
  it('is idf x tf x (k1 + 1) / (tf + k1 x (1 - b + b x length / average))', () => {
    const idf = Math.log(1 + (100 - 1 + 0.5) / (1 + 0.5));
    expect(score(20, { rare: 1 })).toBeCloseTo((idf * 1.9) / 1.9, 12);
    expect(score(40, { rare: 2 })).toBeCloseTo((idf * 2 * 1.9) / (2 + 0.9 * (0.6 + 0.4 * 2)), 12);
  });

  it('adds the terms up: a question is an OR', () => {
    expect(score(20, { rare: 1, common: 1 })).toBeCloseTo(score(20, { rare: 1 }) + score(20, { common: 1 }), 12);
    expect(score(20, { common: 1 })).toBeGreaterThan(0);
    expect(score(20, {})).toBe(0);
  });

  it('is never negative, not even for a word that stands everywhere', () => {
    expect(inverseDocumentFrequency('common', statistics)).toBeGreaterThan(0);
    expect(inverseDocumentFrequency('impossible', statistics)).toBeGreaterThan(0);
  });

  it('gives a rarer term more, a longer text less, and a further mention more', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 500 }), (tf, length) => {
        expect(score(length, { rare: tf })).toBeGreaterThan(score(length, { common: tf }));
        expect(score(length + 1, { rare: tf })).toBeLessThan(score(length, { rare: tf }));
        expect(score(length, { rare: tf + 1 })).toBeGreaterThan(score(length, { rare: tf }));
      }),
    );
  });

  it('is a number also for an empty collection', () => {
    const empty = { documents: 0, totalLength: 0, documentFrequencies: new Map<string, number>() };
    expect(bm25({ length: 3, frequencies: new Map([['rare', 1]]) }, ['rare'], empty, balanced)).toBeGreaterThan(0);
  });
});
