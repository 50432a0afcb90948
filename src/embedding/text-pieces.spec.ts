import fc from 'fast-check';
import { mostPieces, readTokens, textPieces } from './text-pieces.js';

/** The worst case that is promised: a token per code point, and one for the start of the word. */
const countTokens = (word: string) => Array.from(word).length + 1;
const tokensOf = (piece: string) => piece.split(' ').reduce((sum, word) => sum + countTokens(word), 0);

describe('the pieces of a text', () => {
  it('are one for a short text, with its white space evened out', () => {
    expect(textPieces('  How do\n\tI refund\u00a0an order? ', countTokens)).toEqual(['How do I refund an order?']);
  });

  it.each(['', ' ', '\n\n'])('are one blank for the blank text %j', (text) => {
    expect(textPieces(text, countTokens)).toEqual([' ']);
  });

  it('never have more tokens than the model reads, and hold the text from its start', () => {
    const word = fc.oneof(
      fc.string({ maxLength: 20, unit: 'grapheme' }),
      fc.string({ minLength: 100, maxLength: 400 }),
      fc.constant('ﷺ'),
    );
    fc.assert(
      fc.property(fc.array(word, { maxLength: 200 }), (words) => {
        const text = words.join(' ');
        const pieces = textPieces(text, countTokens);
        expect(pieces.length).toBeLessThanOrEqual(mostPieces);
        for (const piece of pieces) if (piece !== ' ') expect(tokensOf(piece)).toBeLessThanOrEqual(readTokens);
        const letters = (of: string) => of.replace(/\s/g, '');
        expect(letters(text.normalize('NFKC')).startsWith(letters(pieces.join('')))).toBe(true);
        if (pieces.length < mostPieces) expect(letters(pieces.join(''))).toBe(letters(text.normalize('NFKC')));
      }),
    );
  });

  it('are cut off after the last one, without reading the rest', () => {
    let counted = 0;
    const pieces = textPieces('word '.repeat(1_000_000), (word) => {
      counted += 1;
      return countTokens(word);
    });
    expect(pieces).toHaveLength(mostPieces);
    expect(counted).toBeLessThan(300);
  });

  it('cut a word without end', () => {
    expect(textPieces('x'.repeat(300), countTokens).map(({ length }) => length)).toEqual([127, 127, 46]);
  });
});
