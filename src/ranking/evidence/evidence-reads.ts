import { type CollectionStatistics } from './bm25.js';
import { type PostingsPlan } from './postings-plan.js';

/**
 * What the ranking of evidence asks of a store. An instance serves one recall: it is bound to the team, scopes and filters
 * of the request and to its `valid_at` and `known_at`, and **every answer contains eligible evidence only**. What is
 * quarantined, superseded, retracted, erased, of a revision no longer current, or of a deactivated owner does not exist
 * here: it is neither counted, nor found, nor a neighbour, nor a step on the way to one.
 *
 * Each method is one set-wise query with a bounded answer. `rankEvidence` calls them one after the other, in this order,
 * never two at once, so that one connection and one snapshot serve:
 *
 * 1. `authorsNamed` (only for profiles with context)
 * 2. `exact`, for the question as a whole and what in it may be an id, a key or an anchor
 * 3. `statistics`, then `postings`, when it has terms
 * 4. `nearest`, when there is a vector of the question
 * 5. `nearest` again, or `postings`, among what named authors said and what happened at the asked time
 * 6. `describe` of all that was found
 * 7. `neighbours` of the best, then `describe` of those not described yet
 *
 * A method that fails rejects; whether the recall goes on without its branch is the profile's to say (`degrade`). A store
 * that works inside one transaction must see to it that a failed query leaves the next ones possible.
 *
 * All orders are total: equal scores by id, so that the same data gives the same answer.
 */
export interface EvidenceReads {
  /** Names of authors of eligible evidence that share a word with these (see `nameWords`); any 50 of them at most. */
  authorsNamed(words: readonly string[]): Promise<readonly string[]>;

  /** Size of the eligible collection, and the document frequencies of these terms in it. */
  statistics(terms: readonly string[]): Promise<CollectionStatistics>;

  /** Evidence called by one of these names, or that has one of the anchors: most matches first, then id. */
  exact(wanted: ExactNames, gate: Gate, limit: number): Promise<readonly ExactMatch[]>;

  /** Evidence with at least one of the gathering terms, with the counts of all scoring terms. At most `documentsPerTerm` documents for each gathering term. */
  postings(plan: PostingsPlan, gate: Gate): Promise<readonly Posting[]>;

  /** Evidence nearest to the vector among those with a vector of its contract: highest cosine first, then id. */
  nearest(vector: QueryVector, gate: Gate, limit: number): Promise<readonly Neighbourhood[]>;

  /**
   * The eligible evidence before and behind each of these in its group, by sequence (then id), up to that distance. Only
   * eligible evidence counts a step. Evidence without group or sequence has no neighbours.
   */
  neighbours(ids: readonly string[], distance: number, gate: Gate): Promise<readonly NeighbourOf[]>;

  /** All that ranking needs to know of these, in any order. An id that is not eligible (any more) is missing. */
  describe(ids: readonly string[], about: About): Promise<readonly CandidateFacts[]>;
}

export interface QueryVector {
  /** Contract of the embedding model; vectors of other contracts are not compared. */
  readonly contract: string;
  readonly values: ArrayLike<number>;
}

/** Which of the eligible evidence a query may return. */
export interface Gate {
  /** Values of hard anchors: evidence must have every one of them itself (see `evidenceAnchors`). Empty: no such demand. */
  readonly anchors: readonly string[];
  /** Only what one of these authors said; empty or missing: anybody. */
  readonly authors?: readonly string[] | undefined;
  /** Only what happened in one of these half-open intervals (milliseconds since 1970), by `occurred_at` or validity. */
  readonly during?: readonly { readonly from: number; readonly to: number }[] | undefined;
}

export interface ExactNames {
  /** The question's text as a whole, and its server ids: they may be an evidence id, an external id or a source key. */
  readonly names: readonly string[];
  readonly anchors: readonly string[];
}

export interface ExactMatch {
  readonly id: string;
  /** How many of the wanted names and anchors it has, 1 or more. */
  readonly matches: number;
}

export interface Posting {
  readonly id: string;
  /** Length of the document in terms. */
  readonly length: number;
  readonly frequencies: ReadonlyMap<string, number>;
}

export interface Neighbourhood {
  readonly id: string;
  /** -1 to 1. */
  readonly cosine: number;
}

export interface NeighbourOf {
  /** One of the asked ids. */
  readonly of: string;
  readonly id: string;
  /** -2, -1, 1 or 2: how many eligible steps behind (above 0) or before it stands. */
  readonly offset: number;
}

/** What `describe` is to say about evidence in respect of the question. */
export interface About {
  readonly terms: readonly string[];
  readonly vector: QueryVector | undefined;
  /** Anchor values of which it is to say whether the evidence has them. */
  readonly anchors: readonly string[];
  /** Names of which it is to say whether the evidence is called so. */
  readonly names: readonly string[];
  /** How much of the text to return, in code points. */
  readonly contentLimit: number;
}

export interface CandidateFacts extends Posting {
  /** The beginning of the text (see `searchableText`: metadata included). */
  readonly content: string;
  /** Size of the context that a result shows, UTF-8. */
  readonly contextBytes: number;
  readonly author: string | null;
  readonly group: string | null;
  readonly occurredAt: Date | null;
  readonly validFrom: Date | null;
  readonly validTo: Date | null;
  /** Null while its vector is pending, and when the question has none. */
  readonly cosine: number | null;
  /** Which of the asked anchors it has. */
  readonly anchors: readonly string[];
  /** Whether it is called by one of the asked names. */
  readonly isNamed: boolean;
  /** As `textSignals` has it, for the whole text. */
  readonly asks: boolean;
  readonly tellsTime: boolean;
  /** Facts and claims it supports, and how many independent source groups support them. 0 when there is no graph. */
  readonly factSupport: number;
  readonly sourceGroups: number;
}
