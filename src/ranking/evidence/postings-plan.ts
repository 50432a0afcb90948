import { type CollectionStatistics } from './bm25.js';

export interface PostingsPlan {
  /** Terms whose documents are candidates, the rarest first. */
  readonly gather: readonly string[];
  /** Terms by which every candidate is scored: all of the question's that stand in some document. */
  readonly score: readonly string[];
  /** Documents taken of each gathering term, those with the greatest share of it first. */
  readonly documentsPerTerm: number;
}

/** A term in this many documents, or fewer, is gathered whole. */
export const documentsPerTerm = 2_000;

/**
 * Which postings to read for a question: candidates come from its rarest terms, until these stand in 4 times as many
 * documents as the pool has places; the rest of the terms only score them. The term that crosses the line is taken whole.
 *
 * This is the declared cap of the text branch. The words left out are the most common ones, and a document that has only
 * those rarely belongs to the best: `docs/evidence-ranking.md` has the measurement.
 */
export function planPostings(
  terms: readonly string[],
  { documentFrequencies }: CollectionStatistics,
  pool: number,
): PostingsPlan {
  const df = (term: string) => documentFrequencies.get(term) ?? 0;
  const score = [...new Set(terms)].filter((term) => df(term) > 0).sort((a, b) => df(a) - df(b) || (a < b ? -1 : 1));
  const gather: string[] = [];
  let gathered = 0;
  for (const term of score) {
    if (gathered >= 4 * pool) break;
    gather.push(term);
    gathered += df(term);
  }
  return { gather, score, documentsPerTerm: Math.max(documentsPerTerm, 4 * pool) };
}
