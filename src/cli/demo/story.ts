/**
 * Three ways to refund an order, as an agent would store them: what the demo plays, and what must come out of it.
 */
export interface StoryProcedure {
  readonly title: string;
  readonly question: string;
  readonly version: string;
  /** Title of the version that this one improves on. */
  readonly improves?: string;
  readonly graph: { readonly steps: readonly string[] };
  /** How its runs went, by the agent's own word, in this order. */
  readonly runs: readonly boolean[];
}

const runs = (successes: number, failures = 0): boolean[] => [
  ...Array<boolean>(successes).fill(true),
  ...Array<boolean>(failures).fill(false),
];

const refundForCustomer = 'How do I refund an order for a customer?';

export const story: readonly StoryProcedure[] = [
  {
    title: 'Proven original, 1.0',
    question: refundForCustomer,
    version: '1.0',
    graph: { steps: ['find the order', 'refund the payment'] },
    runs: runs(20),
  },
  {
    title: 'New version, 1.1',
    question: refundForCustomer,
    version: '1.1',
    improves: 'Proven original, 1.0',
    graph: { steps: ['find the order', 'refund the payment', 'tell the customer'] },
    runs: runs(1),
  },
  {
    title: 'Close match, 1.0',
    question: 'How do I refund an order I shipped?',
    version: '1.0',
    graph: { steps: ['find the shipment', 'wait for the return', 'refund the payment'] },
    runs: runs(5, 5),
  },
];

export const askedQuestion = 'How do I refund an order?';

export interface RankedRow {
  readonly title: string;
  readonly similarity: number;
  readonly success_rate: number;
  readonly freshness: number;
  readonly total: number;
}

/**
 * Best first, to three decimals. Similarities count shared words; 20 of 20 runs by the agent's word alone give
 * (10 + 5 × 0.5) / 15 = 0.833, from which the new version starts: (0.5 + 5 × 0.833) / 5.5 = 0.848.
 */
export const expectedRanking: readonly RankedRow[] = [
  { title: 'New version, 1.1', similarity: 0.816, success_rate: 0.848, freshness: 1, total: 0.863 },
  { title: 'Proven original, 1.0', similarity: 0.816, success_rate: 0.833, freshness: 1, total: 0.858 },
  { title: 'Close match, 1.0', similarity: 0.904, success_rate: 0.5, freshness: 1, total: 0.802 },
];

const numbers = ['similarity', 'success_rate', 'freshness', 'total'] as const;

export const decimals = (value: number): string => value.toFixed(3);

/** What differs between a ranking and the expected one, a line each; none when all numbers agree to three decimals. */
export function differences(ranking: readonly RankedRow[], expected: readonly RankedRow[] = expectedRanking): string[] {
  if (ranking.length !== expected.length) return [`${ranking.length} matches instead of ${expected.length}`];
  return expected.flatMap((wanted, index) => {
    const row = ranking[index];
    if (row?.title !== wanted.title) return [`rank ${index + 1} is ${row?.title ?? 'nobody'} instead of ${wanted.title}`];
    return numbers
      .filter((number) => decimals(row[number]) !== decimals(wanted[number]))
      .map((number) => `${number} of ${row.title} is ${decimals(row[number])} instead of ${decimals(wanted[number])}`);
  });
}
