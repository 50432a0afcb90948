import { askedQuestions } from './locomo-questions.js';
import { report } from './locomo-report.js';
import { type Case, figures, recallAt, reciprocalRank } from './retrieval-metrics.js';

describe('recall at a limit', () => {
  it.each([
    [['a'], ['a'], 1],
    [['a', 'b'], ['x', 'b'], 0.5],
    [['a', 'b', 'c'], ['c', 'x', 'a'], 2 / 3],
    [['a'], ['x', 'y', 'z', 'a'], 0],
    [['a'], [], 0],
  ])('three, of %j among %j, is %p', (wanted, found, expected) => expect(recallAt({ wanted, found }, 3)).toBe(expected));
});

describe('the reciprocal rank', () => {
  it.each([
    [['a'], ['a', 'b'], 1],
    [['a', 'b'], ['x', 'b', 'a'], 0.5],
    [['a'], ['x', 'y', 'a'], 1 / 3],
    [['a'], ['x', 'y', 'z', 'a'], 0],
    [['a'], [], 0],
  ])('of the first of %j among %j, up to the third, is %p', (wanted, found, expected) =>
    expect(reciprocalRank({ wanted, found }, 3)).toBe(expected),
  );
});

const cases: Case[] = [
  { group: 'c-1', category: 'temporal', wanted: ['a', 'b'], found: ['b', 'x', 'a'] },
  { group: 'c-1', category: 'multi_hop', wanted: ['a', 'b', 'c', 'd'], found: ['x', 'd'] },
  { group: 'c-2', category: 'temporal', wanted: ['a'], found: ['x', 'y'] },
];

describe('figures', () => {
  it('are averages over questions, not over what was wanted', () => {
    expect(figures(cases, 10)).toEqual({ recall: (1 + 0.25 + 0) / 3, mrr: (1 + 0.5 + 0) / 3, questions: 3 });
  });

  it('of no question are zero', () => expect(figures([], 10)).toEqual({ recall: 0, mrr: 0, questions: 0 }));

  it('are told in all, by category and by conversation, recall and rank first', () => {
    const told = report(cases, 10);
    expect(Object.keys(told).slice(0, 2)).toEqual(['recall_at_10', 'mrr']);
    expect(told).toEqual({
      recall_at_10: 1.25 / 3,
      mrr: 0.5,
      questions: 3,
      limit: 10,
      by_category: {
        temporal: { recall: 0.5, mrr: 0.5, questions: 2 },
        multi_hop: { recall: 0.25, mrr: 0.5, questions: 1 },
      },
      by_conversation: {
        'c-1': { recall: 0.625, mrr: 0.75, questions: 2 },
        'c-2': { recall: 0, mrr: 0, questions: 1 },
      },
    });
  });
});

describe('the questions of a conversation', () => {
  it('are those with an answer that an existing turn gives, and want each turn once', () => {
    const items = ['D1:1', 'D1:2'].map((external_id) => ({ content: 'x', external_id }));
    const question = (category: number, ...evidence: string[]) => ({ question: `Q${category}`, category, evidence });
    const questions = [
      question(1, 'D1:1', 'D9:9', 'D1:1', 'D1:2'),
      question(2),
      question(3, 'D9:9'),
      question(4, 'D1:2'),
      question(5, 'D1:1'),
    ];
    expect(askedQuestions({ id: 'c', items, questions })).toEqual([
      { conversation: 'c', category: 'multi_hop', question: 'Q1', wanted: ['D1:1', 'D1:2'] },
      { conversation: 'c', category: 'single_hop', question: 'Q4', wanted: ['D1:2'] },
    ]);
  });
});
