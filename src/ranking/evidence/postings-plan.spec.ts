import { planPostings } from './postings-plan.js';

const plan = (frequencies: Record<string, number>, pool: number) =>
  planPostings(
    Object.keys(frequencies),
    { documents: 10_000, totalLength: 1, documentFrequencies: new Map(Object.entries(frequencies)) },
    pool,
  );

describe('the plan of which postings to read', () => {
  it('gathers from the rarest terms until they have 4 times the pool, and scores by all', () => {
    expect(plan({ the: 5_000, apple: 150, orchard: 100, tree: 900 }, 60)).toEqual({
      gather: ['orchard', 'apple'],
      score: ['orchard', 'apple', 'tree', 'the'],
      documentsPerTerm: 2_000,
    });
    expect(plan({ apple: 150, orchard: 89, tree: 900 }, 60).gather).toEqual(['orchard', 'apple', 'tree']);
  });

  it('takes the only term whole, however common it is', () => {
    expect(plan({ tree: 9_000 }, 60).gather).toEqual(['tree']);
  });

  it('leaves out terms that stand nowhere, and orders equals by name', () => {
    expect(plan({ zebra: 3, unicorn: 0, apple: 3 }, 60)).toMatchObject({ gather: ['apple', 'zebra'], score: ['apple', 'zebra'] });
  });

  it('is empty when no term stands anywhere', () => {
    expect(plan({ unicorn: 0 }, 60)).toMatchObject({ gather: [], score: [] });
  });
});
