import { fold } from '../text/fold.js';
import { languageRules } from '../text/languages.js';

/** Authors heeded in one question. */
export const mostNamedAuthors = 8;

const word = /[\p{L}\p{M}\p{N}]+/gu;

export interface NamedAuthors {
  /** As they were given, in the order in which the question names them. */
  readonly names: readonly string[];
  /** The folded words of the question that name them. */
  readonly words: ReadonlySet<string>;
}

/** The folded words of a question (or of a name) that may name an author, at most 100: what a store of names is asked for. */
export function nameWords(text: string): string[] {
  return [...new Set(Array.from(text.matchAll(word), ([found]) => fold(found)))].slice(0, 100);
}

/**
 * Which of the team's authors a question names.
 *
 * A name of several words is named by any of them that has at least two letters: "Jane" names Jane Smith, and Jane Brown
 * too. A word counts in the capitals of the name ("will" does not name Will) unless the whole question has none, and a
 * stop word never names anybody at the start of a question, where every word has a capital.
 */
export function namedAuthors(question: string, authors: readonly string[], language: string): NamedAuthors {
  const { isStopWord } = languageRules(language);
  const places = new Map<string, number>();
  const hasCapitals = /\p{Lu}/u.test(question);
  Array.from(question.matchAll(word), ([found]) => found).forEach((found, place) => {
    const folded = fold(found);
    const key = hasCapitals ? found : folded;
    if ((isStopWord(folded) && (place === 0 || !hasCapitals)) || folded.length < 2 || places.has(key)) return;
    places.set(key, place);
  });
  const named = authors.flatMap((name) => {
    const parts = (name.match(word) ?? []).filter((part) => places.has(hasCapitals ? part : fold(part)));
    return parts.length === 0
      ? []
      : [{ name, parts, place: Math.min(...parts.map((part) => places.get(hasCapitals ? part : fold(part)) ?? 0)) }];
  });
  named.sort((a, b) => a.place - b.place || (a.name < b.name ? -1 : 1));
  const kept = named.slice(0, mostNamedAuthors);
  return { names: kept.map(({ name }) => name), words: new Set(kept.flatMap(({ parts }) => parts.map(fold))) };
}
