/** What was wanted by a question, and what a recall brought, best first. */
export interface Case {
  readonly group: string;
  readonly category: string;
  /** At least one, without repetitions. */
  readonly wanted: readonly string[];
  readonly found: readonly string[];
}

export interface Figures {
  /** Share of what was wanted that is among the first `limit`, averaged over questions; 0 to 1. */
  readonly recall: number;
  /** Mean reciprocal rank: of 1 / rank of the first that was wanted, 0 where none is among the first `limit`; 0 to 1. */
  readonly mrr: number;
  readonly questions: number;
}

export function recallAt({ wanted, found }: Pick<Case, 'wanted' | 'found'>, limit: number): number {
  const first = new Set(found.slice(0, limit));
  return wanted.filter((one) => first.has(one)).length / wanted.length;
}

export function reciprocalRank({ wanted, found }: Pick<Case, 'wanted' | 'found'>, limit: number): number {
  const rank = found.slice(0, limit).findIndex((one) => wanted.includes(one)) + 1;
  return rank === 0 ? 0 : 1 / rank;
}

/** @returns zeros for no cases: nothing was shown to be found */
export function figures(cases: readonly Case[], limit: number): Figures {
  const mean = (value: (one: Case) => number) => cases.reduce((sum, one) => sum + value(one), 0) / Math.max(cases.length, 1);
  return {
    recall: mean((one) => recallAt(one, limit)),
    mrr: mean((one) => reciprocalRank(one, limit)),
    questions: cases.length,
  };
}

/** Figures for each value of a property, in the order in which they first come. */
export function figuresBy(cases: readonly Case[], property: 'group' | 'category', limit: number): Map<string, Figures> {
  const names = [...new Set(cases.map((one) => one[property]))];
  return new Map(
    names.map((name) => [
      name,
      figures(
        cases.filter((one) => one[property] === name),
        limit,
      ),
    ]),
  );
}
