import { adjacencyOf, contextShares } from './context.js';
import { type CandidateFacts } from './evidence-reads.js';

const rule = { adjacent: 0.4, second: 0.2, group: 0.3, groupBest: 3, answering: 2 };

const facts = (id: string, group: string | null = 'g', asks = false): CandidateFacts => ({
  id,
  group,
  asks,
  content: '',
  contextBytes: 0,
  length: 1,
  frequencies: new Map(),
  author: null,
  occurredAt: null,
  validFrom: null,
  validTo: null,
  cosine: null,
  anchors: [],
  isNamed: false,
  tellsTime: false,
  factSupport: 0,
  sourceGroups: 0,
});
const share = (candidates: CandidateFacts[], scores: Record<string, number>, links: [string, string, number][], id: string) =>
  contextShares(
    candidates,
    new Map(Object.entries(scores)),
    adjacencyOf(links.map(([of, neighbour, offset]) => ({ of, id: neighbour, offset }))),
    rule,
  ).get(id);

describe('the context of evidence', () => {
  it('is a share of the better neighbour at each distance, and of the mean of its group’s best three', () => {
    const candidates = ['a', 'b', 'c', 'd'].map((id) => facts(id));
    const links: [string, string, number][] = [
      ['b', 'a', -1],
      ['b', 'c', 1],
      ['b', 'd', 2],
    ];
    const found = share(candidates, { a: 0.5, b: 0, c: 1, d: 0.8 }, links, 'b');
    expect(found?.adjacent).toBeCloseTo(0.4 * 1, 12);
    expect(found?.second).toBeCloseTo(0.2 * 0.8, 12);
    expect(found?.group).toBeCloseTo((0.3 * (1 + 0.8 + 0.5)) / 3, 12);
    expect(found?.total).toBeCloseTo(0.4 + 0.16 + 0.23, 12);
  });

  it('goes both ways between two neighbours', () => {
    expect(share([facts('a'), facts('b')], { b: 1 }, [['b', 'a', -1]], 'a')?.adjacent).toBeCloseTo(0.4, 12);
  });

  it('counts the question right before an answer more', () => {
    const candidates = [facts('question', 'g', true), facts('answer')];
    expect(share(candidates, { question: 0.5 }, [['answer', 'question', -1]], 'answer')?.adjacent).toBeCloseTo(0.4 * 0.5 * 2, 12);
  });

  it('does not count a question that comes after, nor one two steps before', () => {
    const candidates = [facts('a', 'g', true), facts('b'), facts('c', 'g', true)];
    const links: [string, string, number][] = [
      ['b', 'c', 1],
      ['c', 'a', -2],
    ];
    expect(share(candidates, { c: 0.5 }, links, 'b')?.adjacent).toBeCloseTo(0.4 * 0.5, 12);
    expect(share(candidates, { a: 0.5 }, links, 'c')?.second).toBeCloseTo(0.2 * 0.5, 12);
  });

  it('of a single hit in a group is a third of what three would give', () => {
    expect(share([facts('a')], { a: 0.9 }, [], 'a')?.group).toBeCloseTo((0.3 * 0.9) / 3, 12);
  });

  it('is nothing without group and neighbours', () => {
    expect(share([facts('a', null)], { a: 0.9 }, [], 'a')).toEqual({ adjacent: 0, second: 0, group: 0, total: 0 });
  });

  it('is never taken from what is no candidate', () => {
    expect(share([facts('a', null)], { gone: 1 }, [['a', 'gone', 1]], 'a')?.adjacent).toBe(0);
  });
});
