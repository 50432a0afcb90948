import { createHash } from 'node:crypto';
import { defaultSettings } from '../../src/access/settings.js';
import type { TeamEvent } from '../../src/access/team.js';
import { isRedacted, type RecordedEvent } from '../../src/event-log/domain-event.js';
import type { EvidenceEvent } from '../../src/evidence/evidence.js';
import { anchorGrammarVersion, documentAnchors } from '../../src/ranking/anchors/anchors.js';
import { evidenceAnchors, searchableText } from '../../src/ranking/evidence/searchable-text.js';
import { textSignals, textSignalsVersion } from '../../src/ranking/evidence/text-signals.js';
import { nameWords } from '../../src/ranking/query/named-authors.js';
import { type Analysis, analyse, termFrequencies, tokeniserVersion } from '../../src/ranking/text/analyse.js';
import { type Change, erase, type Lookup, lookup, projection, put, remove, type Rows } from '../engine/projection.js';
import {
  anchors,
  authorWords,
  type CollectionRow,
  collections,
  evidenceVectors,
  postings,
  searchDocuments,
  terms,
} from './evidence-search.tables.js';

type Event =
  | Extract<EvidenceEvent, { type: 'EvidenceRemembered' | 'EvidenceAliased' | 'EvidenceErased' }>
  | Extract<TeamEvent, { type: 'TeamCreated' | 'TeamSettingsChanged' }>;
type Remembered = Extract<Event, { type: 'EvidenceRemembered' }>;
type Content = Exclude<Remembered['sealed'], { redacted: true }>;

/** Grows when the tables or their meaning change. */
const ownVersion = 1;

/**
 * What evidence is found by: terms with the statistics that BM25 needs, identifiers, names of authors, vectors. Whether it
 * may be returned is not its business: every query joins the evidence itself (see eligibility.ts).
 *
 * A text is indexed by the language its team has when it is remembered.
 */
export const evidenceSearchProjection = projection<Event>({
  name: 'evidence_search',
  // Each of the four makes a new version when it grows: terms of two tokenisers must not meet in one table.
  version: ownVersion * 1_000_000 + tokeniserVersion * 10_000 + anchorGrammarVersion * 100 + textSignalsVersion,
  eventTypes: ['TeamCreated', 'TeamSettingsChanged', 'EvidenceRemembered', 'EvidenceAliased', 'EvidenceErased'],
  needsContent: true,
  tables: [searchDocuments, postings, terms, collections, anchors, authorWords, evidenceVectors],

  load: (events) => events.flatMap(({ team, data }) => lookups(team, data)),

  follow: (event, rows) => countsOf(event.team, event.data, rows),

  changes(event, rows) {
    const { team: team_id, data } = event;
    switch (data.type) {
      case 'TeamCreated':
      case 'TeamSettingsChanged':
        return languageSet(team_id, data.settings.language, rows);
      case 'EvidenceRemembered':
        return remembered(event, data, rows);
      case 'EvidenceAliased': {
        const known = rows.get(searchDocuments, { team_id, evidence_id: data.evidence_id });
        if (!known || isRedacted(data.sealed)) return [];
        return anchorRows(team_id, data.evidence_id, documentAnchors(data.sealed.external_id));
      }
      case 'EvidenceErased':
        return erased(team_id, data.evidence_id, rows);
      default:
        return data satisfies never;
    }
  },
});

function lookups(team_id: string, event: Event): Lookup[] {
  const collection = lookup(collections, { team_id });
  switch (event.type) {
    case 'TeamCreated':
    case 'TeamSettingsChanged':
      return [collection];
    case 'EvidenceRemembered':
    case 'EvidenceAliased':
      return [collection, lookup(searchDocuments, { team_id, evidence_id: event.evidence_id })];
    case 'EvidenceErased': {
      const { evidence_id } = event;
      return [collection, lookup(searchDocuments, { team_id, evidence_id }), lookup(postings, { team_id, evidence_id })];
    }
    default:
      return event satisfies never;
  }
}

/** The rows that count how much else has the same terms, and the same author: which ones, the text says in the team's language. */
function countsOf(team_id: string, event: Event, rows: Rows): Lookup[] {
  if (event.type === 'EvidenceRemembered') {
    if (isRedacted(event.sealed)) return [];
    const { author } = event.sealed;
    return [
      ...termLookups(team_id, frequenciesOf(event.sealed, languageOf(team_id, rows)).keys()),
      ...authorLookups(team_id, author),
    ];
  }
  if (event.type !== 'EvidenceErased') return [];
  const key = { team_id, evidence_id: event.evidence_id };
  const author = rows.get(searchDocuments, key)?.author ?? null;
  const had = rows.find(postings, key).map(({ term }) => term);
  return [...termLookups(team_id, had), ...authorLookups(team_id, author)];
}

const termLookups = (team_id: string, found: Iterable<string>): Lookup[] =>
  Array.from(found, (term) => lookup(terms, { team_id, term }));

const authorLookups = (team_id: string, author: string | null): Lookup[] =>
  wordsOf(author).map((word) => lookup(authorWords, { team_id, word, author: author ?? '' }));

const wordsOf = (author: string | null): string[] => (author === null ? [] : nameWords(author));

const frequenciesOf = (content: Content, language: string) => termFrequencies(analysisOf(content, language));

/** Of the events at hand: the rows to load and the rows to write both follow from it, and a long text takes a third of a second. */
const analyses = new WeakMap<Content, { readonly language: string; readonly analysis: Analysis }>();

function analysisOf(content: Content, language: string): Analysis {
  const known = analyses.get(content);
  if (known?.language === language) return known.analysis;
  const analysis = analyse(searchableText(content.content, content.metadata), language);
  analyses.set(content, { language, analysis });
  return analysis;
}

const languageOf = (team_id: string, rows: Rows): string =>
  rows.get(collections, { team_id })?.language ?? defaultSettings.language;

const emptyCollection = (team_id: string): CollectionRow => ({
  team_id,
  documents: 0,
  total_length: 0n,
  language: defaultSettings.language,
});

function languageSet(team_id: string, language: string | undefined, rows: Rows): Change[] {
  const row = rows.get(collections, { team_id }) ?? emptyCollection(team_id);
  return language === undefined || row.language === language ? [] : [kept({ ...row, language })];
}

function remembered(event: RecordedEvent<Event>, data: Remembered, rows: Rows): Change[] {
  const { team: team_id, position } = event;
  const { evidence_id, sealed } = data;
  const key = { team_id, evidence_id };
  // Redacted: the erasing event is further on in the log. The document is there: the event comes a second time.
  if (isRedacted(sealed) || rows.get(searchDocuments, key)) return [];
  const collection = rows.get(collections, { team_id }) ?? emptyCollection(team_id);
  const { language } = collection;
  const { content, author, metadata } = sealed;
  const analysis = analysisOf(sealed, language);
  const { length } = analysis;
  const { asks, tellsTime: tells_time } = textSignals(content, language);
  const names = [evidence_id, sealed.external_id, sealed.source_key].flatMap((name) => name ?? []);
  const content_hash = createHash('sha256').update(content).digest('hex');
  const frequencies = [...termFrequencies(analysis)];
  return [
    put(searchDocuments, { ...key, length, context_bytes: Buffer.byteLength(content), asks, tells_time, author, position }),
    ...frequencies.map(([term, frequency]) => put(postings, { ...key, term, frequency, length })),
    ...frequencies.map(([term]) => counted(terms, { team_id, term }, rows, 1)),
    ...wordsOf(author).map((word) => counted(authorWords, { team_id, word, author: author ?? '' }, rows, 1)),
    ...anchorRows(team_id, evidence_id, evidenceAnchors(names, searchableText(content, metadata))),
    kept(resized(collection, 1, length)),
    put(evidenceVectors, {
      ...key,
      content_hash,
      position,
      contract: null,
      embedding: null,
      attempts: null,
      retry_at: null,
      failure: null,
    }),
  ];
}

const anchorRows = (team_id: string, evidence_id: string, found: readonly string[]): Change[] =>
  [...new Set(found)].map((anchor) => put(anchors, { team_id, anchor, evidence_id }));

function erased(team_id: string, evidence_id: string, rows: Rows): Change[] {
  const key = { team_id, evidence_id };
  const document = rows.get(searchDocuments, key);
  if (!document) return [];
  const { author, length } = document;
  const collection = rows.get(collections, { team_id }) ?? emptyCollection(team_id);
  return [
    ...rows.find(postings, key).map(({ term }) => counted(terms, { team_id, term }, rows, -1)),
    ...wordsOf(author).map((word) => counted(authorWords, { team_id, word, author: author ?? '' }, rows, -1)),
    kept(resized(collection, -1, length)),
    erase(searchDocuments, key),
    erase(postings, key),
    erase(anchors, key),
    erase(evidenceVectors, key),
  ];
}

/** A collection that says nothing has no row: a rebuild never meets what was erased, and so never makes it one. */
const kept = (row: CollectionRow): Change =>
  row.documents === 0 && row.language === defaultSettings.language
    ? remove(collections, { team_id: row.team_id })
    : put(collections, row);

const resized = (row: CollectionRow, by: 1 | -1, length: number): CollectionRow => ({
  ...row,
  documents: row.documents + by,
  total_length: row.total_length + BigInt(by * length),
});

/** One document more or fewer; without any, the row goes, since it says what nobody says any more. */
function counted(of: typeof terms, key: { team_id: string; term: string }, rows: Rows, by: 1 | -1): Change;
function counted(of: typeof authorWords, key: { team_id: string; word: string; author: string }, rows: Rows, by: 1 | -1): Change;
function counted(of: typeof terms | typeof authorWords, key: Record<string, string>, rows: Rows, by: 1 | -1): Change {
  const table = of as typeof terms;
  const documents = (rows.get(table, key)?.documents ?? 0) + by;
  return documents > 0 ? put(table, { ...(key as { team_id: string; term: string }), documents }) : remove(table, key);
}
