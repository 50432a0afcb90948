/** Tokens the model reads of a text; it ignores everything behind (measured: a changed word at token 130 changes nothing). */
export const readTokens = 128;

/**
 * Pieces of one text that are embedded: 8 hold about 1,000 tokens, or 4,000 characters of English, the longest question.
 * More would let one text hold up the model for seconds.
 */
export const mostPieces = 8;

/** A word has at most one token per code point, and one that marks its start. */
const longestWord = readTokens - 1;

/**
 * Cuts a text between words into pieces that the model reads whole; a word that is longer than a piece is cut too.
 *
 * White space of any kind and length becomes one space. What does not fit into the last piece is left out. A blank text is
 * one piece, because a text without tokens has no vector.
 *
 * @param countTokens the model's own count, at most a word's code points plus one
 */
export function textPieces(text: string, countTokens: (word: string) => number): string[] {
  const pieces: string[] = [];
  let piece: string[] = [];
  let tokens = 0;
  for (const word of shortWords(text)) {
    const count = countTokens(word);
    if (tokens + count > readTokens) {
      pieces.push(piece.join(' '));
      if (pieces.length === mostPieces) return pieces;
      piece = [];
      tokens = 0;
    }
    piece.push(word);
    tokens += count;
  }
  if (piece.length > 0) pieces.push(piece.join(' '));
  return pieces.length === 0 ? [' '] : pieces;
}

/**
 * In compatibility form, as the model reads it, because that may make 18 characters of one. Long words are cut before
 * anybody counts their tokens: the tokeniser takes time with the square of the length (20,000 characters: 650 ms).
 */
function* shortWords(text: string): Generator<string> {
  for (const [word] of text.normalize('NFKC').matchAll(/\S+/g)) {
    if (word.length <= longestWord) {
      yield word;
      continue;
    }
    const points = Array.from(word);
    for (let start = 0; start < points.length; start += longestWord) {
      yield points.slice(start, start + longestWord).join('');
    }
  }
}
