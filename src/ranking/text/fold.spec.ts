import fc from 'fast-check';
import { fold } from './fold.js';

describe('folding', () => {
  it.each([
    ['Café', 'cafe'],
    ['CAFE\u0301', 'cafe'],
    ['Straße', 'strasse'],
    ['ＡＢＣ１２', 'abc12'],
    ['ﬁle', 'file'],
    ['İstanbul', 'istanbul'],
    ['ılık', 'ilik'],
    ['Łódź', 'lodz'],
    ['Ærøskøbing', 'aeroskobing'],
    ['ΟΔΟΣ', 'οδοσ'],
    ['οδός', 'οδοσ'],
    ['Ещё', 'еще'],
    ['Йод', 'йод'],
    ['كِتَاب', 'كتاب'],
    ['שָׁלוֹם', 'שלום'],
    ['soft\u00ADhyphen', 'softhyphen'],
    ['it’s', "it's"],
  ])('of %s is %s', (text, folded) => {
    expect(fold(text)).toBe(folded);
  });

  it.each(['が', 'ポ', 'हिन्दी', '한국어', 'ภาษาไทย'])('leaves the marks of %s, which are letters', (text) => {
    expect(fold(text)).toBe(text.normalize('NFKC'));
  });

  it('of what is folded changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 40 }), (text) => {
        expect(fold(fold(text))).toBe(fold(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not tell case apart, nor forms of one character', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...Array.from('aBçÇéÉñöÅøЖйΣώ')), maxLength: 20 }), (text) => {
        expect(fold(text.normalize('NFD'))).toBe(fold(text.normalize('NFC')));
        expect(fold(text.toUpperCase())).toBe(fold(text));
      }),
    );
  });
});
