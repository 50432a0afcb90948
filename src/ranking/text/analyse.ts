import { fold } from './fold.js';
import { type LanguageRules, languageRules } from './languages.js';

/**
 * Part of the version of every read model that holds terms: who changes what `analyse` returns for any text raises it.
 */
export const tokeniserVersion = 1;

/** Longer words are cut: nobody asks for them by hand, and stemmers take time with their length. */
export const longestWord = 64; // UTF-16 units
/** Longer identifiers are indexed by their parts alone. */
export const longestIdentifier = 256; // UTF-16 units
/** What comes after so many terms of one text is not indexed. The longest evidence has 20,000 code points. */
export const mostTerms = 20_000;

export interface Term {
  readonly text: string;
  /** Place among the words, from 0, stop words counted. An identifier and its first part share one. */
  readonly position: number;
}

export interface Analysis {
  /** In the order of the text. */
  readonly terms: readonly Term[];
  /** The document length of BM25: terms without the whole identifiers, which say again what their parts say. */
  readonly length: number;
}

/** Scripts written without spaces; and Hangul, whose words carry their endings with them. */
const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30FC\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\p{Script=Hangul}';
const unspacedRun = new RegExp(`[${unspaced}][${unspaced}\\p{M}]*`, 'u');
const unspacedCharacter = new RegExp(`[${unspaced}]\\p{M}*`, 'gu');

/** A word, or several that characters of identifiers join. Every step takes at least one character, so time is linear. */
const chunk = /\.?[\p{L}\p{M}\p{N}_]+(?:[-.:/\\#@+'\u2019\u02BC]+[\p{L}\p{M}\p{N}_]+)*/gu;
const joined = /[^-.:/\\#@+_]+/g;
const bySpelling = new RegExp(`(${unspacedRun.source})`, 'u');
/** A digit, an underscore, an address or a scope: joined with other parts they make a name that is asked for as a whole. */
const identifier = /[\d_:@\\]|^\.|\.[\p{L}\p{N}]+$|\/.*\//u;
const hump = /(?<=\p{Ll})(?=\p{Lu})/u;
const digitGroup = /(?<=\d)[,\u2019'](?=\d{3}(?!\d))/g;

/**
 * The terms of a text, as documents and questions are indexed by them.
 *
 * Words are folded (see `fold`), stop words of the language left out, the rest stemmed. Scripts without spaces become
 * overlapping pairs of characters, a single one stays itself. What joins several words to one name (`release.yml`,
 * `PROJ-123`, `feedback:read`) is a term as a whole, and its parts are terms too; so are the humps of `userName`.
 *
 * Total: every string has an analysis, of at most `mostTerms` terms.
 */
export function analyse(text: string, language: string): Analysis {
  const rules = languageRules(language);
  const writer = new TermWriter(rules);
  for (const [found] of text.normalize('NFKC').replace(digitGroup, '').matchAll(chunk)) {
    if (writer.isFull) break;
    writeChunk(found, writer);
  }
  return { terms: writer.terms, length: writer.length };
}

/** How often each term comes, in the order of first appearance. */
export function termFrequencies({ terms }: Analysis): Map<string, number> {
  const frequencies = new Map<string, number>();
  for (const { text } of terms) frequencies.set(text, (frequencies.get(text) ?? 0) + 1);
  return frequencies;
}

class TermWriter {
  readonly terms: Term[] = [];
  length = 0;
  private position = 0;

  constructor(readonly rules: LanguageRules) {}

  get isFull(): boolean {
    return this.terms.length >= mostTerms;
  }

  /** A term that counts as a word of the text. */
  word(text: string): void {
    this.add(text);
    this.length += 1;
    this.position += 1;
  }

  /** A further name of the word that comes next. */
  alias(text: string): void {
    this.add(text);
  }

  gap(): void {
    this.position += 1;
  }

  private add(text: string): void {
    if (!this.isFull) this.terms.push({ text, position: this.position });
  }
}

function writeChunk(found: string, writer: TermWriter): void {
  const whole = fold(found).replace(/'s$/, '');
  const parts = found.match(joined) ?? [];
  if (whole.length <= longestIdentifier && isIdentifier(whole, parts.length)) writer.alias(whole);
  for (const part of parts) {
    for (const piece of part.split(bySpelling)) {
      if (piece === '') continue;
      if (unspacedRun.test(piece)) writePairs(fold(piece), writer);
      else writeWord(piece, writer);
    }
  }
}

const isIdentifier = (whole: string, parts: number) => (parts > 1 || whole.startsWith('.')) && identifier.test(whole);

function writeWord(piece: string, writer: TermWriter): void {
  const word = fold(piece);
  if (writer.rules.isStopWord(word)) return writer.gap();
  const humps = piece.split(hump);
  if (humps.length > 1) for (const part of humps) writeHump(fold(part), writer);
  // "l'avion" is about the plane: what stands on either side of an apostrophe is a word, save for a possessive.
  for (const part of word.replace(/'s$/, '').split("'")) {
    if (part === '') continue;
    if (writer.rules.isStopWord(part)) writer.gap();
    else writer.word(stemOf(part, writer.rules));
  }
}

function writeHump(part: string, writer: TermWriter): void {
  if (part !== '' && !writer.rules.isStopWord(part)) writer.alias(stemOf(part, writer.rules));
}

const stemOf = (word: string, rules: LanguageRules) =>
  word.length > longestWord ? word.slice(0, longestWord) : rules.stem(word);

function writePairs(run: string, writer: TermWriter): void {
  const characters = Array.from(run.matchAll(unspacedCharacter), ([character]) => character);
  if (characters.length === 1) return writer.word(run);
  for (const [index, character] of characters.slice(1).entries()) writer.word(`${characters[index] ?? ''}${character}`);
}
