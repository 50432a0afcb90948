import {
  type Candidate,
  candidateProblem,
  freshness,
  InvalidCandidate,
  isInvalidCandidate,
  type JudgedCounters,
  neutralPrior,
  prior,
  rankProcedures,
  scoreProcedure,
  successRate,
} from './procedure-score.js';
import { defaultRankingOptions, type RankingOptions } from './ranking-options.js';

const now = new Date('2026-03-01T12:00:00Z');
const daysAgo = (days: number) => new Date(now.getTime() - days * 86_400_000);
const justNow = daysAgo(0);

const ran = (counters: Partial<JudgedCounters>): JudgedCounters => ({
  runs: 0,
  successes: 0,
  judged_runs: 0,
  judged_successes: 0,
  last_run_at: justNow,
  ...counters,
});
const neverRan = ran({ last_run_at: null });
const agentOnly = (successes: number, runs: number) => ran({ runs, successes });
const judged = (successes: number, runs: number) => ran({ runs, successes, judged_runs: runs, judged_successes: successes });
const options = (changes: Partial<RankingOptions> = {}): RankingOptions => ({ ...defaultRankingOptions, ...changes });

const candidate = (id: string, similarity: number, counters: JudgedCounters, parentCounters?: JudgedCounters): Candidate => ({
  id,
  similarity,
  counters,
  parentCounters,
});
const rate = (counters: JudgedCounters, parentCounters?: JudgedCounters, changes: Partial<RankingOptions> = {}) =>
  scoreProcedure(candidate('any', 0.9, counters, parentCounters), now, options(changes)).score.success_rate;
const rank = (candidates: Candidate[], query: { minSimilarity?: number; top?: number; options?: RankingOptions } = {}) =>
  rankProcedures(candidates, { now, options: options(), top: 50, ...query });
const ids = (candidates: Candidate[], query?: Parameters<typeof rank>[1]) => rank(candidates, query).matches.map(({ id }) => id);

describe('the success rate', () => {
  it.each([
    ['one success that only the agent saw', agentOnly(1, 1), 0.545],
    ['one judged success', judged(1, 1), 0.583],
    ['20 of 20 that only the agent saw', agentOnly(20, 20), 0.833],
    ['5 of 10 that only the agent saw', agentOnly(5, 10), 0.5],
    ['one judged failure', judged(0, 1), 0.417],
    ['one failure that only the agent saw', agentOnly(0, 1), 0.455],
    ['20 agent-only successes and one judged failure', ran({ runs: 21, successes: 20, judged_runs: 1 }), 0.781],
    [
      '20 agent-only successes of which a human confirmed one',
      ran({ runs: 20, successes: 20, judged_runs: 1, judged_successes: 1 }),
      0.839,
    ],
  ])('of %s', (_, counters, expected) => {
    expect(rate(counters)).toBeCloseTo(expected, 3);
  });

  it('is the prior without runs', () => {
    expect(successRate(neverRan, 0.7, options())).toBeCloseTo(0.7, 12);
    expect(rate(neverRan)).toBe(0.5);
  });

  it('is the plain smoothed share when an agent’s verdict counts in full', () => {
    for (const [successes, runs] of [
      [0, 3],
      [1, 1],
      [5, 10],
      [20, 20],
    ] as const) {
      const plain = (successes + 5 * 0.5) / (runs + 5);
      expect(rate(agentOnly(successes, runs), undefined, { agentVerdictWeight: 1 })).toBeCloseTo(plain, 12);
      expect(rate(judged(successes, runs), undefined, { agentVerdictWeight: 1 })).toBeCloseTo(plain, 12);
    }
  });

  it('rests on judged runs alone when an agent’s verdict counts nothing', () => {
    const mixed = ran({ runs: 10, successes: 9, judged_runs: 2, judged_successes: 1 });
    expect(rate(mixed, undefined, { agentVerdictWeight: 0 })).toBeCloseTo((1 + 2.5) / (2 + 5), 12);
    expect(rate(agentOnly(20, 20), undefined, { agentVerdictWeight: 0 })).toBe(0.5);
    expect(rate(agentOnly(0, 20), undefined, { agentVerdictWeight: 0 })).toBe(0.5);
  });

  it('leans less on the prior the smaller the prior’s weight', () => {
    expect(rate(judged(1, 1), undefined, { priorWeight: 1 })).toBeCloseTo(0.75, 12);
    expect(rate(judged(1, 1), undefined, { priorWeight: 100 })).toBeCloseTo(51 / 101, 12);
  });

  it('counts a judged run whose execution was pruned as agent-only', () => {
    const pruned = ran({ runs: 4, successes: 4 });
    expect(rate(pruned)).toBeCloseTo((2 + 2.5) / (2 + 5), 12);
    expect(rate(pruned)).toBeLessThan(rate(judged(4, 4)));
  });
});

describe('a new version', () => {
  const proven = agentOnly(20, 20);

  it('starts from the record of a proven parent', () => {
    expect(rate(agentOnly(1, 1), proven)).toBeCloseTo(0.848, 3);
    expect(rate(agentOnly(1, 1))).toBeCloseTo(0.545, 3);
    expect(prior(proven, options())).toBeCloseTo(0.833, 3);
  });

  it('ranks as a root with the neutral prior when its parent was erased', () => {
    expect(prior(undefined, options())).toBe(neutralPrior);
    const orphan = scoreProcedure(candidate('orphan', 0.9, agentOnly(1, 1)), now, options());
    expect(orphan.score.success_rate).toBeCloseTo(0.545, 3);
    expect(orphan.evidence.uses_parent_prior).toBe(false);
  });

  it('is not dragged down by a failing parent', () => {
    expect(prior(agentOnly(0, 40), options())).toBe(neutralPrior);
    expect(rate(agentOnly(1, 1), agentOnly(0, 40))).toBe(rate(agentOnly(1, 1)));
    expect(rate(agentOnly(1, 1), judged(0, 40))).toBe(rate(agentOnly(1, 1)));
  });

  it.each([
    ['a proven parent', proven, true],
    ['a parent of which half the runs succeeded', agentOnly(5, 10), false],
    ['a failing parent', judged(1, 4), false],
    ['a parent that never ran', neverRan, false],
    ['no parent', undefined, false],
  ])('says whether the prior really was its parent’s: %s', (_, parent, expected) => {
    expect(scoreProcedure(candidate('child', 0.9, agentOnly(1, 1), parent), now, options()).evidence.uses_parent_prior).toBe(
      expected,
    );
  });

  it('inherits from a parent’s judged runs when an agent’s verdict counts nothing', () => {
    expect(prior(proven, options({ agentVerdictWeight: 0 }))).toBe(neutralPrior);
    expect(prior(judged(20, 20), options({ agentVerdictWeight: 0 }))).toBeCloseTo(0.9, 12);
  });
});

describe('freshness', () => {
  it.each([
    [0, 1],
    [30, 0.5],
    [60, 0.25],
    [90, 0.125],
  ])('%d days after the last run is %d', (days, expected) => {
    expect(freshness(daysAgo(days), now, 30)).toBe(expected);
  });

  it('is 1 when clocks differ and the last run lies in the future', () => {
    expect(freshness(daysAgo(-3), now, 30)).toBe(1);
    expect(freshness(new Date(now.getTime() + 1), now, 30)).toBe(1);
  });

  it('halves in the time the options say', () => {
    expect(freshness(daysAgo(7), now, 7)).toBe(0.5);
    expect(freshness(daysAgo(30), now, Number.MIN_VALUE)).toBe(0);
  });

  it('is 0 without a run, whatever time stands beside it', () => {
    expect(freshness(null, now, 30)).toBe(0);
    expect(scoreProcedure(candidate('idle', 1, neverRan), now, options()).score.freshness).toBe(0);
    expect(scoreProcedure(candidate('idle', 1, ran({ last_run_at: justNow })), now, options()).score.freshness).toBe(0);
  });
});

describe('the worked example: How do I refund an order?', () => {
  // Cosines of word counts: 6 of 9 distinct words, and one word that comes twice.
  const sameQuestion = 6 / Math.sqrt(6 * 9);
  const closerQuestion = 7 / Math.sqrt(6 * 10);
  const original = candidate('1.0', sameQuestion, agentOnly(20, 20));
  const newVersion = candidate('1.1', sameQuestion, agentOnly(1, 1), original.counters);
  const closeMatch = candidate('close', closerQuestion, agentOnly(5, 10));

  it('ranks the new version first, its original next and the failing close match last', () => {
    const { matches } = rank([closeMatch, original, newVersion]);
    expect(matches.map(({ id }) => id)).toEqual(['1.1', '1.0', 'close']);
    expect(matches.map(({ score }) => Object.values(score).map((part: number) => part.toFixed(3)))).toEqual([
      ['0.816', '0.848', '1.000', '0.863'],
      ['0.816', '0.833', '1.000', '0.858'],
      ['0.904', '0.500', '1.000', '0.802'],
    ]);
    expect(matches.map(({ evidence }) => evidence)).toEqual([
      { runs: 1, judged_runs: 0, uses_parent_prior: true },
      { runs: 20, judged_runs: 0, uses_parent_prior: false },
      { runs: 10, judged_runs: 0, uses_parent_prior: false },
    ]);
  });

  it('would rank the new version last without inheritance', () => {
    const { matches } = rank([closeMatch, original, { ...newVersion, parentCounters: undefined }]);
    expect(matches.map(({ id }) => id)).toEqual(['1.0', 'close', '1.1']);
    expect(matches[2]?.score.success_rate).toBeCloseTo(0.545, 3);
    expect(matches[2]?.score.total).toBeCloseTo(0.772, 3);
  });

  it('ranks the new version last after five failures in a row that only the agent saw', () => {
    const failing = { ...newVersion, counters: agentOnly(1, 6) };
    const { matches } = rank([failing, closeMatch, original]);
    expect(matches.map(({ id }) => id)).toEqual(['1.0', 'close', '1.1']);
    // (0.5 + 5 * 0.8333) / (3 + 5) = 0.5833; 0.5 * 0.8165 + 0.3 * 0.5833 + 0.2
    expect(matches[2]?.score.success_rate).toBeCloseTo(0.583, 3);
    expect(matches[2]?.score.total).toBeCloseTo(0.783, 3);
  });

  it('still ranks the new version above the close match after three', () => {
    expect(ids([{ ...newVersion, counters: agentOnly(1, 4) }, closeMatch, original])).toEqual(['1.0', '1.1', 'close']);
  });
});

describe('ranked procedures', () => {
  it('leave out what is less similar than the cut-off, however good its record', () => {
    const { matches, candidateCount, removedByCutOff } = rank([
      candidate('at', 0.5, agentOnly(0, 3)),
      candidate('below', 0.4999, judged(100, 100)),
    ]);
    expect(matches.map(({ id }) => id)).toEqual(['at']);
    expect({ candidateCount, removedByCutOff }).toEqual({ candidateCount: 2, removedByCutOff: 1 });
  });

  it('take the cut-off of the query before that of the options', () => {
    const pool = [candidate('a', 0.3, agentOnly(1, 1)), candidate('b', 0.7, agentOnly(1, 1))];
    expect(ids(pool, { minSimilarity: 0 })).toEqual(['b', 'a']);
    expect(ids(pool, { minSimilarity: 0.8 })).toEqual([]);
    expect(ids(pool, { options: options({ minSimilarity: 0.2 }) })).toEqual(['b', 'a']);
  });

  it('are an empty list when there is no candidate', () => {
    expect(rank([])).toEqual({ matches: [], candidateCount: 0, removedByCutOff: 0 });
  });

  it('are at most as many as asked for, chosen after scoring', () => {
    const proven = candidate('proven', 0.6, judged(50, 50));
    const nearer = ['n1', 'n2', 'n3'].map((id) => candidate(id, 0.65, judged(0, 50)));
    const ranked = rank([...nearer, proven], { top: 2 });
    expect(ranked.matches.map(({ id }) => id)).toEqual(['proven', 'n1']);
    expect(ranked.candidateCount).toBe(4);
  });

  it('with equal totals come by similarity', () => {
    // 0.5 * 0.5 + 0.5 * 0.5 and 0.5 * 0.75 + 0.5 * 0.25 are exact in binary, so the totals are equal to the last bit.
    const equalWeights = options({ similarityWeight: 0.5, successRateWeight: 0, freshnessWeight: 0.5, minSimilarity: 0 });
    const fresherButFurther = candidate('a', 0.5, ran({ runs: 1, successes: 1, last_run_at: daysAgo(30) }));
    const nearerButOlder = candidate('b', 0.75, ran({ runs: 1, successes: 1, last_run_at: daysAgo(60) }));
    const { matches } = rank([fresherButFurther, nearerButOlder], { options: equalWeights });
    expect(matches.map(({ score }) => score.total)).toEqual([0.5, 0.5]);
    expect(matches.map(({ id }) => id)).toEqual(['b', 'a']);
  });

  it('with equal totals and similarities come by id, code unit by code unit', () => {
    const pool = ['b', 'a', 'B', '10', '9'].map((id) => candidate(id, 0.8, agentOnly(1, 1)));
    expect(ids(pool)).toEqual(['10', '9', 'B', 'a', 'b']);
  });

  it('take a similarity just beyond 0 or 1 for rounding of the vectors', () => {
    const { matches } = rank([candidate('over', 1 + 9e-7, agentOnly(1, 1)), candidate('under', -9e-7, agentOnly(1, 1))], {
      minSimilarity: 0,
    });
    expect(matches.map(({ score }) => score.similarity)).toEqual([1, 0]);
  });

  it('may include a procedure that never ran, which has its prior and no freshness', () => {
    const { matches } = rank([candidate('idle', 0.8, neverRan)]);
    expect(matches).toEqual([
      {
        id: 'idle',
        score: { similarity: 0.8, success_rate: 0.5, freshness: 0, total: 0.55 },
        evidence: { runs: 0, judged_runs: 0, uses_parent_prior: false },
      },
    ]);
  });

  it('change nothing about their input', () => {
    const pool = Object.freeze(
      [candidate('a', 0.6, agentOnly(1, 1)), candidate('b', 0.9, agentOnly(1, 1))].map(Object.freeze),
    ) as Candidate[];
    expect(ids(pool)).toEqual(['b', 'a']);
    expect(pool.map(({ id }) => id)).toEqual(['a', 'b']);
  });
});

describe('a candidate that cannot be', () => {
  const good = candidate('good', 0.9, ran({ runs: 4, successes: 3, judged_runs: 2, judged_successes: 1 }), agentOnly(1, 1));
  const counting = (counters: Partial<JudgedCounters>): Candidate => ({ ...good, counters: { ...good.counters, ...counters } });

  it.each<[string, Candidate]>([
    ['similarity is not a finite number', { ...good, similarity: Number.NaN }],
    ['similarity is not a finite number', { ...good, similarity: Number.POSITIVE_INFINITY }],
    ['similarity is not a finite number', { ...good, similarity: '0.9' as unknown as number }],
    ['similarity is not from 0 to 1', { ...good, similarity: 1.000002 }],
    ['similarity is not from 0 to 1', { ...good, similarity: -0.000002 }],
    ['runs is not a whole number from 0', counting({ runs: -1 })],
    ['runs is not a whole number from 0', counting({ runs: 4n as unknown as number })],
    ['successes is not a whole number from 0', counting({ successes: 2.5 })],
    ['judged_runs is not a whole number from 0', counting({ judged_runs: Number.NaN })],
    ['judged_successes is not a whole number from 0', counting({ judged_successes: -1 })],
    ['successes exceed runs', counting({ successes: 5 })],
    ['judged_runs exceed runs', counting({ judged_runs: 5 })],
    ['judged_successes exceed judged_runs', counting({ judged_successes: 3 })],
    ['judged_successes exceed successes', counting({ successes: 1, judged_runs: 2, judged_successes: 2 })],
    ['judged failures exceed failures', counting({ successes: 4 })],
    ['last_run_at is missing although there are runs', counting({ last_run_at: null })],
    ['last_run_at is not a time', counting({ last_run_at: new Date(Number.NaN) })],
    ['parent: successes exceed runs', { ...good, parentCounters: agentOnly(2, 1) }],
  ])('is named as one whose %s', (problem, bad) => {
    expect(candidateProblem(bad)).toBe(problem);
  });

  it.each<[string, Candidate]>([
    ['mixed runs', good],
    ['no runs', { ...good, counters: neverRan }],
    ['a parent that never ran', { ...good, parentCounters: neverRan }],
    ['similarity 0', { ...good, similarity: 0 }],
    ['similarity a rounding beyond 1', { ...good, similarity: 1 + 1e-6 / 2 }],
    ['a last run in the future', counting({ last_run_at: daysAgo(-1) })],
  ])('is not one with %s', (_, fine) => {
    expect(candidateProblem(fine)).toBeUndefined();
  });

  it('stops the ranking, also from below the cut-off', () => {
    const bad = { ...good, id: 'bad', similarity: 0.1, counters: agentOnly(2, 1) };
    expect(() => rank([good, bad])).toThrow(new InvalidCandidate('bad', 'successes exceed runs'));
  });

  it('includes one that was found twice, for no order of the two would be certain', () => {
    expect(() => rank([good, good])).toThrow('candidate good: it comes twice');
  });

  it('is told from other errors by its guard and code', () => {
    const error = new InvalidCandidate('x', 'successes exceed runs');
    expect(isInvalidCandidate(error) && error.code).toBe('adapter_defect');
    expect(isInvalidCandidate(new Error('successes exceed runs'))).toBe(false);
  });
});
