import { type IssueKeyRule, type QueryAnchors, queryAnchors } from '../anchors/anchors.js';
import { analyse, type Analysis, type Term } from '../text/analyse.js';
import { languageRules } from '../text/languages.js';
import { cuesOf } from './cues.js';
import { type NamedAuthors, namedAuthors } from './named-authors.js';
import { readTemporalIntent, type TemporalIntent } from './temporal-intent.js';

/** Terms of one question that are looked up: more come from pasted texts, whose first words say as much. */
export const mostQueryTerms = 64;
const mostPhrases = 8;

/** A question taken apart. Made by `parseQuery`; everything here follows from its text, the authors' names and the clock. */
export interface ParsedQuery {
  readonly text: string;
  readonly language: string;
  /** Content terms, each once, in order: without stop words, names of authors, and words about time. */
  readonly terms: readonly string[];
  /** Neighbouring content terms of the question, no word between them. */
  readonly pairs: readonly (readonly [string, string])[];
  /** Terms of each quoted phrase, with their places in it. */
  readonly phrases: readonly (readonly Term[])[];
  readonly anchors: QueryAnchors;
  /** What may be an evidence id, an external id or a source key: the question as a whole, and its tokens that are no words. */
  readonly names: readonly string[];
  /** Authors the question names. */
  readonly authors: readonly string[];
  /** The question asks for what holds now. */
  readonly currentness: boolean;
  /** The question asks for a time. */
  readonly asksTime: boolean;
  /** Times the question speaks of. */
  readonly temporal: readonly TemporalIntent[];
}

export interface QueryContext {
  readonly language: string;
  /** Names of the team's authors that share a word with the question; others do no harm. */
  readonly authors: readonly string[];
  readonly now: Date;
  readonly issueKeys: IssueKeyRule;
}

export function parseQuery(text: string, { language, authors, now, issueKeys }: QueryContext): ParsedQuery {
  const named = namedAuthors(text, authors, language);
  const { intents, rest } = readTemporalIntent(text, language, now);
  const content = contentOf(text, rest, named, language);
  const cues = cuesOf(language);
  return {
    text,
    language,
    terms: [...new Set(content.terms.map(({ text: term }) => term))].slice(0, mostQueryTerms),
    pairs: pairsOf(content),
    phrases: quotedPhrases(text, language),
    anchors: queryAnchors(text, issueKeys),
    names: exactNames(text),
    authors: named.names,
    currentness: cues.currentness.test(text),
    asksTime: cues.asksTime.test(text),
    temporal: intents,
  };
}

/**
 * The content of a question: less the words about time, and less those that name an author, since half of what a person
 * wrote or was told has the name in it. A question of nothing else keeps all its words.
 */
function contentOf(text: string, rest: string, named: NamedAuthors, language: string): Analysis {
  const { stem } = languageRules(language);
  const names = new Set([...named.words].map(stem));
  const unnamed = (analysis: Analysis): Analysis => ({
    ...analysis,
    terms: analysis.terms.filter(({ text: term }) => !names.has(term)),
  });
  const choices = [unnamed(analyse(rest, language)), unnamed(analyse(text, language)), analyse(text, language)];
  return choices.find(({ terms }) => terms.length > 0) ?? { terms: [], length: 0 };
}

const mostNames = 20;
const longestName = 512; // UTF-16 units

function exactNames(text: string): string[] {
  const tokens = text.split(/\s+/).map((token) => token.replace(/^["'“”‘’«»([{<]+|["'“”‘’«»)\]}>?!.,;:]+$/g, ''));
  const named = tokens.filter((token) => /[\p{L}\p{N}][^\p{L}\p{M}\s'’]|[^\p{L}\p{M}\s'’][\p{L}\p{N}]/u.test(token));
  return [...new Set([text.trim(), ...named])].filter((name) => name !== '' && name.length <= longestName).slice(0, mostNames);
}

function pairsOf({ terms }: Analysis): [string, string][] {
  const pairs = new Map<string, [string, string]>();
  for (const [index, { text, position }] of terms.entries()) {
    const next = terms.slice(index + 1, index + 4).find((term) => term.position === position + 1);
    if (next) pairs.set(`${text} ${next.text}`, [text, next.text]);
  }
  return [...pairs.values()].slice(0, mostQueryTerms);
}

const quoted = /"([^"]{2,400})"|“([^”]{2,400})”|„([^“”]{2,400})[“”]|«([^»]{2,400})»|「([^」]{2,400})」/gu;

function quotedPhrases(text: string, language: string): (readonly Term[])[] {
  return [...text.matchAll(quoted)]
    .map(([phrase]) => analyse(phrase, language).terms)
    .filter((terms) => terms.length > 0)
    .slice(0, mostPhrases);
}
