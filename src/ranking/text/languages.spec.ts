import fc from 'fast-check';
import { languages } from '../../access/settings.js';
import { hasStemmer, languageRules } from './languages.js';

describe('the rules of a language', () => {
  it('are there for every language a team may choose, three of which have no stemmer', () => {
    expect(languages.filter((language) => !hasStemmer(language))).toEqual(['basque', 'catalan', 'yiddish']);
  });

  it.each(languages)('of %s make a string of any word', (language) => {
    const { stem } = languageRules(language);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), (word) => {
        expect(stem(word)).toEqual(expect.stringMatching(/./s));
        expect(stem(word)).toBe(stem(word));
      }),
    );
  });

  it.each(['constructor', '__proto__', 'toString', 'klingon'])(
    'leave the words of %s, which is no language, alone',
    (language) => {
      expect(languageRules(language).stem('running')).toBe('running');
      expect(languageRules(language).isStopWord('the')).toBe(false);
    },
  );

  it.each([
    ['english', 'paintings', 'painted'],
    ['german', 'hauser', 'hausern'],
    ['french', 'mangees', 'mangee'],
    ['spanish', 'nacion', 'naciones'],
    ['russian', 'книги', 'книгами'],
  ])('of %s give %s and %s one stem', (language, one, other) => {
    const { stem } = languageRules(language);
    expect(stem(one)).toBe(stem(other));
  });

  it('know stop words in their folded form', () => {
    expect(languageRules('french').isStopWord('etaient')).toBe(true);
    expect(languageRules('english').isStopWord("don't")).toBe(true);
    expect(languageRules('english').isStopWord('a')).toBe(true);
  });
});
