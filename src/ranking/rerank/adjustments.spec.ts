import fc from 'fast-check';
import { adjust, type AdjustmentGains, adjustments, leastFactor, mostFactor } from './adjustments.js';

const gains = (changes: Partial<AdjustmentGains>): AdjustmentGains => ({
  ...(Object.fromEntries(adjustments.map((name) => [name, 0])) as Record<(typeof adjustments)[number], number>),
  ...changes,
});

describe('adjustments', () => {
  it('multiply the score by 1 + gain x signal, and say what they were', () => {
    expect(adjust(2, { phrase: 0.5, only_asks: 1 }, gains({ phrase: 0.2, only_asks: -0.1 }))).toEqual({
      score: 2 * 1.1 * 0.9,
      applied: [
        { name: 'phrase', factor: 1.1 },
        { name: 'only_asks', factor: 0.9 },
      ],
    });
  });

  it('that do not apply are not listed', () => {
    expect(adjust(2, { phrase: 0 }, gains({ phrase: 0.2 }))).toEqual({ score: 2, applied: [] });
  });

  it('make nothing relevant by themselves', () => {
    expect(adjust(0, { exact_match: 1, temporal_intent: 1 }, gains({ exact_match: 1, temporal_intent: 1 })).score).toBe(0);
  });

  it('stay within their bounds, whatever signals and gains come in', () => {
    const anyNumber = fc.oneof(fc.double(), fc.constantFrom(-1, 0, 1, 2));
    const record = fc.record(Object.fromEntries(adjustments.map((name) => [name, anyNumber]))) as fc.Arbitrary<AdjustmentGains>;
    fc.assert(
      fc.property(record, record, (signals, its) => {
        fc.pre(Object.values(its).every(Number.isFinite));
        const { score, applied } = adjust(1, signals, its);
        expect(score >= leastFactor && score <= mostFactor).toBe(true);
        expect(applied.every(({ factor }) => factor >= 0.5 && factor <= 2)).toBe(true);
      }),
    );
  });
});
