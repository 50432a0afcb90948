import fc from 'fast-check';
import { candidateProblem, type JudgedCounters, prior, rankProcedures, scoreProcedure, successRate } from './procedure-score.js';
import { type RankingOptions, rankingOptionsProblems } from './ranking-options.js';

const now = new Date('2026-03-01T12:00:00Z');
const roundingError = 1e-12;

const share = fc.double({ min: 0, max: 1, noNaN: true });
const count = fc.nat({ max: 1_000_000 });
const lastRun = fc.date({ min: new Date('1990-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });

const counters: fc.Arbitrary<JudgedCounters> = fc
  .tuple(count, count, count, count, lastRun)
  .map(([judgedSuccesses, judgedFailures, agentSuccesses, agentFailures, last_run_at]) => ({
    runs: judgedSuccesses + judgedFailures + agentSuccesses + agentFailures,
    successes: judgedSuccesses + agentSuccesses,
    judged_runs: judgedSuccesses + judgedFailures,
    judged_successes: judgedSuccesses,
    last_run_at,
  }));
const parentCounters = fc.option(counters, { nil: undefined });

const options: fc.Arbitrary<RankingOptions> = fc
  .record({
    cuts: fc.tuple(share, share).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const),
    minSimilarity: share,
    priorWeight: fc.double({ min: 0.001, max: 1000, noNaN: true }),
    agentVerdictWeight: share,
    freshnessHalfLifeDays: fc.double({ min: 0.001, max: 10_000, noNaN: true }),
  })
  .map(({ cuts: [first, second], ...others }) => ({
    ...others,
    similarityWeight: first,
    successRateWeight: second - first,
    freshnessWeight: 1 - second,
  }));

// Few distinct values, so that ties come often.
const coarse = fc.constantFrom(0.5, 0.75, 1);
const coarseCounters = fc.constantFrom(1, 2, 4).map((runs): JudgedCounters => {
  return { runs, successes: runs, judged_runs: 0, judged_successes: 0, last_run_at: now };
});
const candidates = fc.uniqueArray(
  fc.record({
    id: fc.string({ minLength: 1, maxLength: 3 }),
    similarity: fc.oneof(coarse, share),
    counters: fc.oneof(coarseCounters, counters),
    parentCounters,
  }),
  { selector: ({ id }) => id, maxLength: 12 },
);

describe('for all procedures and options', () => {
  it('the generated ones are valid', () => {
    fc.assert(fc.property(options, (chosen) => expect(rankingOptionsProblems(chosen)).toEqual([])));
    fc.assert(fc.property(candidates, (pool) => expect(pool.map(candidateProblem)).toEqual(pool.map(() => undefined))));
  });

  it('every part and the total lie between 0 and 1', () => {
    fc.assert(
      fc.property(share, counters, parentCounters, options, (similarity, own, parent, chosen) => {
        const { score } = scoreProcedure({ id: 'a', similarity, counters: own, parentCounters: parent }, now, chosen);
        for (const part of Object.values(score) as number[]) expect(part >= 0 && part <= 1).toBe(true);
      }),
    );
  });

  it('the same runs with more successes never score lower', () => {
    fc.assert(
      fc.property(share, counters, parentCounters, options, fc.boolean(), (similarity, own, parent, chosen, judged) => {
        const moreSuccesses = { ...own, successes: own.successes + 1, judged_successes: own.judged_successes + (judged ? 1 : 0) };
        fc.pre(candidateProblem({ id: 'a', similarity, counters: moreSuccesses }) === undefined);
        const total = (its: JudgedCounters) =>
          scoreProcedure({ id: 'a', similarity, counters: its, parentCounters: parent }, now, chosen).score.total;
        expect(total(moreSuccesses)).toBeGreaterThanOrEqual(total(own) - roundingError);
      }),
    );
  });

  it('one more successful run never lowers the rate, and one more failed run never raises it', () => {
    fc.assert(
      fc.property(counters, share, options, fc.constantFrom(0, 1), (own, prior, chosen, judged) => {
        const before = successRate(own, prior, chosen);
        const failed = { ...own, runs: own.runs + 1, judged_runs: own.judged_runs + judged };
        const succeeded = { ...failed, successes: own.successes + 1, judged_successes: own.judged_successes + judged };
        expect(successRate(succeeded, prior, chosen)).toBeGreaterThanOrEqual(before - roundingError);
        expect(successRate(failed, prior, chosen)).toBeLessThanOrEqual(before + roundingError);
      }),
    );
  });

  it('a later last run never scores lower', () => {
    fc.assert(
      fc.property(share, counters, lastRun, options, (similarity, own, otherTime, chosen) => {
        const score = (last_run_at: Date) =>
          scoreProcedure({ id: 'a', similarity, counters: { ...own, last_run_at } }, now, chosen).score.total;
        const [earlier, later] = [own.last_run_at ?? now, otherTime].sort((a, b) => a.getTime() - b.getTime()) as [Date, Date];
        expect(score(later)).toBeGreaterThanOrEqual(score(earlier));
      }),
    );
  });

  it('inheritance never lowers', () => {
    fc.assert(
      fc.property(share, counters, counters, options, (similarity, own, parent, chosen) => {
        const child = { id: 'a', similarity, counters: own };
        const inherited = scoreProcedure({ ...child, parentCounters: parent }, now, chosen);
        const alone = scoreProcedure(child, now, chosen);
        expect(inherited.score.total).toBeGreaterThanOrEqual(alone.score.total);
        if (!inherited.evidence.uses_parent_prior) expect(inherited.score).toEqual(alone.score);
      }),
    );
  });

  it('inheritance goes one level: a parent’s own parent changes nothing', () => {
    fc.assert(
      fc.property(share, counters, counters, counters, options, (similarity, own, parent, grandparent, chosen) => {
        const child = { id: 'child', similarity, counters: own };
        const withGrandparent = { ...parent, parentCounters: grandparent };
        expect(scoreProcedure({ ...child, parentCounters: withGrandparent }, now, chosen)).toEqual(
          scoreProcedure({ ...child, parentCounters: parent }, now, chosen),
        );
        expect(prior(withGrandparent, chosen)).toBe(Math.max(0.5, successRate(parent, 0.5, chosen)));
      }),
    );
  });

  it('the order does not depend on the order of the candidates', () => {
    const shuffled = candidates.chain((pool) =>
      fc.tuple(fc.constant(pool), fc.shuffledSubarray(pool, { minLength: pool.length, maxLength: pool.length })),
    );
    fc.assert(
      fc.property(shuffled, options, fc.integer({ min: 1, max: 5 }), ([pool, other], chosen, top) => {
        const query = { now, options: chosen, top };
        expect(rankProcedures(other, query)).toEqual(rankProcedures(pool, query));
      }),
    );
  });

  it('matches come by total, then similarity, then id, and are the best of those above the cut-off', () => {
    fc.assert(
      fc.property(candidates, options, share, fc.integer({ min: 1, max: 5 }), (pool, chosen, minSimilarity, top) => {
        const all = rankProcedures(pool, { now, options: chosen, minSimilarity, top: pool.length });
        for (const [index, match] of all.matches.entries()) {
          const next = all.matches[index + 1];
          if (next) expect(comesBefore(match, next)).toBe(true);
        }
        expect(all.matches.length + all.removedByCutOff).toBe(pool.length);
        expect(all.matches.every(({ score }) => score.similarity >= minSimilarity)).toBe(true);
        expect(rankProcedures(pool, { now, options: chosen, minSimilarity, top }).matches).toEqual(all.matches.slice(0, top));
      }),
    );
  });
});

type Match = { id: string; score: { total: number; similarity: number } };

function comesBefore(a: Match, b: Match): boolean {
  if (a.score.total !== b.score.total) return a.score.total > b.score.total;
  if (a.score.similarity !== b.score.similarity) return a.score.similarity > b.score.similarity;
  return a.id < b.id;
}
