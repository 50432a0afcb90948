import { createRequire } from 'node:module';
import { fold } from './fold.js';

/**
 * Stemmers (Snowball) and stop words of the languages a team may write in, loaded when the first text of a language comes:
 * together they are 400 KB of code, of which a team needs one language.
 */
export interface LanguageRules {
  /** The stem of a folded word. Total: any string gives a string. */
  readonly stem: (word: string) => string;
  readonly isStopWord: (word: string) => boolean;
}

/** The names of the languages as the packages spell them. What is not here is indexed unstemmed, word by word. */
const packageNames: Readonly<Record<string, string>> = {
  arabic: 'arabic',
  armenian: 'armenian',
  danish: 'danish',
  dutch: 'dutch',
  english: 'english',
  finnish: 'finnish',
  french: 'french',
  german: 'german',
  greek: 'greek',
  hindi: 'indian',
  hungarian: 'hungarian',
  indonesian: 'indonesian',
  irish: 'irish',
  italian: 'italian',
  lithuanian: 'lithuanian',
  nepali: 'nepali',
  norwegian: 'norwegian',
  portuguese: 'portuguese',
  romanian: 'romanian',
  russian: 'russian',
  serbian: 'serbian',
  spanish: 'spanish',
  swedish: 'swedish',
  tamil: 'tamil',
  turkish: 'turkish',
};

/** What the lists leave out: the English one has "an" and no "a". */
const furtherStopWords: Readonly<Record<string, readonly string[]>> = { english: ['a', 's', 't'] };

/** Stems remembered for a language. French takes 40 microseconds a word, and most words of a text were seen before. */
const rememberedStems = 20_000;

const unstemmed: LanguageRules = { stem: (word) => word, isStopWord: () => false };
const loaded = new Map<string, LanguageRules>();

/** Whether words of that language are stemmed. */
export const hasStemmer = (language: string): boolean => Object.hasOwn(packageNames, language);

export function languageRules(language: string): LanguageRules {
  const name = hasStemmer(language) ? packageNames[language] : undefined;
  if (name === undefined) return unstemmed;
  const known = loaded.get(language);
  if (known) return known;
  const rules = load(name, furtherStopWords[language] ?? []);
  loaded.set(language, rules);
  return rules;
}

function load(name: string, further: readonly string[]): LanguageRules {
  // `require`, because an import that is both lazy and synchronous does not exist.
  const require = createRequire(import.meta.url);
  const { stemmer } = require(`@orama/stemmers/${name}`) as { stemmer: (word: string) => string };
  const { stopwords } = require(`@orama/stopwords/${name}`) as { stopwords: readonly string[] };
  const stopWords = new Set([...stopwords, ...further].map(fold));
  return { stem: remembering(stemmer), isStopWord: (word) => stopWords.has(word) };
}

function remembering(stemmer: (word: string) => string): (word: string) => string {
  const stems = new Map<string, string>();
  return (word) => {
    const known = stems.get(word);
    if (known !== undefined) return known;
    // A stem of nothing would make all such words one; folded again, because some stemmers put accents back.
    const stem = fold(stemmer(word)) || word;
    if (stems.size >= rememberedStems) stems.clear();
    stems.set(word, stem);
    return stem;
  };
}
