import { table } from '../engine/projection.js';

/** What a text says about itself, and how long it is. */
export type SearchDocumentRow = {
  team_id: string;
  evidence_id: string;
  /** The document length of BM25, in terms. */
  length: number;
  /** Of the content, UTF-8. */
  context_bytes: number;
  asks: boolean;
  tells_time: boolean;
  author: string | null;
  position: bigint;
};
export const searchDocuments = table<SearchDocumentRow>({
  name: 'search_documents',
  columns: {
    team_id: 'uuid',
    evidence_id: 'uuid',
    length: 'int4',
    context_bytes: 'int4',
    asks: 'bool',
    tells_time: 'bool',
    author: 'text',
    position: 'int8',
  },
  nullable: ['author'],
  key: ['team_id', 'evidence_id'],
  indexes: [['team_id', 'position']],
});

/** A term of a document: the key leads from the terms of a question to the documents that have them. */
export type PostingRow = {
  team_id: string;
  term: string;
  evidence_id: string;
  frequency: number;
  /** Of the document: documents of a term are ordered by the term's share of them, without looking at another table. */
  length: number;
};
export const postings = table<PostingRow>({
  name: 'search_postings',
  columns: { team_id: 'uuid', term: 'text', evidence_id: 'uuid', frequency: 'int4', length: 'int4' },
  key: ['team_id', 'term', 'evidence_id'],
  indexes: [['team_id', 'evidence_id']],
});

/** In how many documents of a team a term stands. A term without one has no row. */
export type TermRow = { team_id: string; term: string; documents: number };
export const terms = table<TermRow>({
  name: 'search_terms',
  columns: { team_id: 'uuid', term: 'text', documents: 'int4' },
  key: ['team_id', 'term'],
});

/** Size of a team's collection, and the language its texts are indexed by from now on. */
export type CollectionRow = { team_id: string; documents: number; total_length: bigint; language: string };
export const collections = table<CollectionRow>({
  name: 'search_collections',
  columns: { team_id: 'uuid', documents: 'int4', total_length: 'int8', language: 'text' },
  key: ['team_id'],
});

/** Identifiers in a text, and those it is called by. */
export type AnchorRow = { team_id: string; anchor: string; evidence_id: string };
export const anchors = table<AnchorRow>({
  name: 'search_anchors',
  columns: { team_id: 'uuid', anchor: 'text', evidence_id: 'uuid' },
  key: ['team_id', 'anchor', 'evidence_id'],
  indexes: [['team_id', 'evidence_id']],
});

/** The words of authors' names, for questions that name one. An author without evidence has no row. */
export type AuthorWordRow = { team_id: string; word: string; author: string; documents: number };
export const authorWords = table<AuthorWordRow>({
  name: 'search_author_words',
  columns: { team_id: 'uuid', word: 'text', author: 'text', documents: 'int4' },
  key: ['team_id', 'word', 'author'],
});

export type EvidenceVectorRow = {
  team_id: string;
  evidence_id: string;
  content_hash: string;
  position: bigint;
  contract: string | null;
  embedding: string | null;
  attempts: number | null;
  retry_at: Date | null;
  failure: string | null;
};
/** One row per evidence, there from its first event on; the embedding worker fills in the vector of its content. */
export const evidenceVectors = table<EvidenceVectorRow>({
  name: 'evidence_vectors',
  columns: {
    team_id: 'uuid',
    evidence_id: 'uuid',
    content_hash: 'text',
    position: 'int8',
    contract: 'text',
    embedding: 'vector',
    attempts: 'int4',
    retry_at: 'timestamptz',
    failure: 'text',
  },
  nullable: ['contract', 'embedding', 'attempts', 'retry_at', 'failure'],
  operational: ['contract', 'embedding', 'attempts', 'retry_at', 'failure'],
  key: ['team_id', 'evidence_id'],
  embeds: 'evidence_id',
});
