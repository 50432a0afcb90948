/**
 * BM25 as Lucene computes it: S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond"
 * (2009), formula 3.15, with the idf `ln(1 + (N - df + .5) / (df + .5))`, which is never negative.
 */
export interface Bm25Options {
  /** How fast repetitions of a term stop counting; 0 or more. */
  readonly k1: number;
  /** How much long texts are held back, 0 to 1. */
  readonly b: number;
}

/** Of the eligible evidence of a team. */
export interface CollectionStatistics {
  readonly documents: number;
  /** Sum of all documents' lengths, in terms. */
  readonly totalLength: number;
  /** In how many documents each of the asked terms stands; a term that is missing stands in none. */
  readonly documentFrequencies: ReadonlyMap<string, number>;
}

export interface TermCounts {
  readonly length: number;
  /** How often each of the question's terms stands in the document; those that do not may be left out. */
  readonly frequencies: ReadonlyMap<string, number>;
}

/** Weight of a term: above 0, the greater the rarer it is. Statistics that disagree (df above N) count as df = N. */
export function inverseDocumentFrequency(term: string, { documents, documentFrequencies }: CollectionStatistics): number {
  const df = Math.min(documentFrequencies.get(term) ?? 0, documents);
  return Math.log(1 + (documents - df + 0.5) / (df + 0.5));
}

/** Score of one document for the terms of a question, 0 or more; 0 exactly when it has none of them. */
export function bm25(
  document: TermCounts,
  terms: readonly string[],
  statistics: CollectionStatistics,
  { k1, b }: Bm25Options,
): number {
  const averageLength = statistics.documents > 0 ? statistics.totalLength / statistics.documents : 0;
  const norm = k1 * (1 - b + b * (averageLength > 0 ? document.length / averageLength : 1));
  return terms.reduce((sum, term) => {
    const tf = document.frequencies.get(term) ?? 0;
    return tf > 0 ? sum + (inverseDocumentFrequency(term, statistics) * tf * (k1 + 1)) / (tf + norm) : sum;
  }, 0);
}
