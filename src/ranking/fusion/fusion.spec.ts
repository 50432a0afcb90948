import fc from 'fast-check';
import { bestFirst, type Branch, type BranchResult, fuse, type FusionRule } from './fusion.js';

const list = (branch: Branch, scores: Record<string, number>): BranchResult => ({
  branch,
  entries: Object.entries(scores).map(([id, score]) => ({ id, score })),
});
/** A branch that names ids in this order. */
const inOrder = (branch: Branch, ids: string): BranchResult => ({
  branch,
  entries: Array.from(ids).map((id, index) => ({ id, score: 100 - index })),
});
const scores = (results: BranchResult[], rule: FusionRule) =>
  Object.fromEntries(fuse(results, rule).map(({ id, score }) => [id, score]));
const rrf: FusionRule = { mode: 'rrf', k: 60, weights: { text: 1, vector: 1 } };

describe('reciprocal rank fusion', () => {
  it('gives .031754 for vector rank 4 and text rank 2', () => {
    const fused = scores([inOrder('vector', 'abcx'), inOrder('text', 'dx')], rrf);
    expect(fused['x']).toBeCloseTo(0.031754, 6);
    expect(fused['x']).toBeCloseTo(1 / 64 + 1 / 62, 12);
  });

  it('weighs branches, and a branch that lacks an id adds nothing', () => {
    const rule: FusionRule = { mode: 'rrf', k: 60, weights: { text: 1, vector: 0.5 } };
    expect(scores([inOrder('text', 'a'), inOrder('vector', 'ba')], rule)).toEqual({ a: 1 / 61 + 0.5 / 62, b: 0.5 / 61 });
  });
});

describe('branch priority', () => {
  it('gives each new id 1/(1+n) in the order of the branches', () => {
    const rule: FusionRule = { mode: 'priority', order: ['exact', 'text', 'vector'] };
    const fused = scores([inOrder('vector', 'cda'), inOrder('text', 'ab'), inOrder('exact', 'b')], rule);
    expect(fused).toEqual({ b: 1, a: 1 / 2, c: 1 / 3, d: 1 / 4 });
  });
});

describe('convex fusion', () => {
  const rule: FusionRule = { mode: 'convex', weights: { text: 0.6, vector: 0.4, context: 1 } };

  it('adds weighted shares of each branch’s best score', () => {
    const fused = scores([list('text', { a: 8, b: 4 }), list('vector', { b: 0.5, c: 0.25 })], rule);
    expect(fused).toEqual({ a: 0.6, b: 0.6 / 2 + 0.4, c: 0.4 / 2 });
  });

  it('takes context as it is, since it is made of fused scores', () => {
    expect(scores([list('context', { a: 0.3, b: 0.1 })], rule)).toEqual({ a: 0.3, b: 0.1 });
  });

  it('counts the opposite of the question as no match', () => {
    expect(scores([list('vector', { a: 0.5, b: -0.5 })], rule)).toEqual({ a: 0.4, b: 0 });
    expect(scores([list('vector', { a: -0.2 })], rule)).toEqual({ a: 0 });
  });
});

describe('every fusion', () => {
  const rules: FusionRule[] = [
    rrf,
    { mode: 'priority', order: ['exact', 'text', 'vector', 'context'] },
    { mode: 'convex', weights: { exact: 1, text: 0.6, vector: 0.4, context: 1 } },
  ];

  it.each(rules)('counts an id once a branch, with its best score: $mode', (rule) => {
    const once = fuse([list('text', { a: 5, b: 9 })], rule);
    const twice = fuse(
      [{ branch: 'text', entries: ['a', 'b', 'a', 'b'].map((id, index) => ({ id, score: [5, 9, 1, 2][index] ?? 0 })) }],
      rule,
    );
    expect(twice).toEqual(once);
  });

  it.each(rules)('takes no score for a perfect one that is no number: $mode', (rule) => {
    const fused = fuse([list('text', { a: Infinity, b: NaN, c: 1 })], rule);
    expect(fused.every(({ score }) => Number.isFinite(score))).toBe(true);
    expect(fused[0]?.id).toBe('c');
  });

  it('orders by score, then best rank, then id', () => {
    expect(
      [
        { id: 'b', score: 1, bestRank: 2 },
        { id: 'a', score: 1, bestRank: 2 },
        { id: 'c', score: 1, bestRank: 1 },
        { id: 'd', score: 2, bestRank: 9 },
      ]
        .sort(bestFirst)
        .map(({ id }) => id),
    ).toEqual(['d', 'c', 'a', 'b']);
  });

  it('is the same whatever order branches and entries come in, and knows every rank', () => {
    const entries = fc.uniqueArray(
      fc.record({ id: fc.constantFrom(...Array.from('abcdefgh')), score: fc.constantFrom(0, 1, 2, 3.5) }),
      {
        selector: ({ id }) => id,
      },
    );
    fc.assert(
      fc.property(entries, entries, fc.constantFrom(...rules), (text, vector, rule) => {
        const results: BranchResult[] = [
          { branch: 'text', entries: text },
          { branch: 'vector', entries: vector },
        ];
        const other: BranchResult[] = [
          { branch: 'vector', entries: [...vector].reverse() },
          { branch: 'text', entries: [...text].reverse() },
        ];
        const fused = fuse(results, rule);
        expect(fuse(other, rule).map(({ id, score }) => [id, score])).toEqual(fused.map(({ id, score }) => [id, score]));
        expect(fused.map(({ id }) => id).sort()).toEqual([...new Set([...text, ...vector].map(({ id }) => id))].sort());
        for (const { ranks, bestRank } of fused) expect(Math.min(...ranks.values())).toBe(bestRank);
      }),
    );
  });
});
