import { type QueryVector } from './evidence-reads.js';

export interface EvidenceRequest {
  readonly question: string;
  /** The team's language. */
  readonly language: string;
  /** The moment the recall is for: what "last week" is counted from. */
  readonly now: Date;
  /** Of the question; undefined when the model is down or vectors are not used. */
  readonly vector: QueryVector | undefined;
  /** Results wanted, 1 to 50. */
  readonly limit: number;
  /** How many ids the caller knows already: the pool grows by them, so that as many others are ranked. */
  readonly knownCount?: number | undefined;
}
