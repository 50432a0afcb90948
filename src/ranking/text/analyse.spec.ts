import fc from 'fast-check';
import { analyse, longestIdentifier, longestWord, mostTerms, termFrequencies } from './analyse.js';

const terms = (text: string, language = 'english') => analyse(text, language).terms.map((term) => term.text);

describe('the terms of a text', () => {
  it('are its words, folded and stemmed, without stop words', () => {
    expect(terms('What did Zoë paint? She was painting the CAFÉS.')).toEqual(['zoe', 'paint', 'paint', 'cafe']);
  });

  it('keep the places of stop words free', () => {
    expect(analyse('the history of the world', 'english').terms).toEqual([
      { text: 'histori', position: 1 },
      { text: 'world', position: 4 },
    ]);
  });

  it.each([
    ["Miriam's dogs", ['miriam', 'dog']],
    ['Miriam’s dogs', ['miriam', 'dog']],
    ["I don't know", ['know']],
    ['1,000 euros', ['1000', 'euro']],
    ['', []],
    ['... !?', []],
  ])('of %j are %j', (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  it('take words apart at the apostrophes of a French sentence', () => {
    expect(terms("l'avion d’Hélène", 'french')).toEqual(['avion', 'helen']);
  });

  it.each([
    ['PROJ-123', ['proj-123', 'proj', '123']],
    ['.github/workflows/release.yml', ['.github/workflows/release.yml', 'github', 'workflow', 'releas', 'yml']],
    ['feedback:read', ['feedback:read', 'feedback', 'read']],
    ['eval_list_recall', ['eval_list_recall', 'eval', 'list', 'recal']],
    ['v1.6.4', ['v1.6.4', 'v1', '6', '4']],
    ['mark@example.com', ['mark@example.com', 'mark', 'exampl', 'com']],
    ['well-known', ['well', 'known']],
    ['singer/songwriter', ['singer', 'songwrit']],
  ])('of the identifier %s are itself and its parts', (text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  it('of a name in humps are itself and its parts, at one place', () => {
    expect(analyse('userName', 'english').terms).toEqual([
      { text: 'user', position: 0 },
      { text: 'name', position: 0 },
      { text: 'usernam', position: 0 },
    ]);
  });

  it('count an identifier and its humps once in the length', () => {
    expect(analyse('see release.yml in userName', 'english').length).toBe(4);
  });

  it.each([
    ['chinese', '我喜欢猫', ['我喜', '喜欢', '欢猫']],
    ['japanese', '東京タワー', ['東京', '京タ', 'タワ', 'ワー']],
    ['half-width katakana', 'ﾀﾜｰ', ['タワ', 'ワー']],
    ['thai', 'กินข้าว', ['กิน', 'นข้', 'ข้า', 'าว']],
    ['korean', '학교에 간다', ['학교', '교에', '간다']],
    ['a single character', '猫', ['猫']],
    ['mixed writing', 'iPhone手机 2台', ['phone', 'iphon', '手机', '2', '台']],
  ])('of %s are overlapping pairs of characters', (_, text, expected) => {
    expect(terms(text)).toEqual(expected);
  });

  it('match across accents, case and width', () => {
    expect(terms('Ｃａｆｅ\u0301')).toEqual(terms('café'));
    expect(terms('CAFE')).toEqual(terms('café'));
  });

  it('are counted', () => {
    expect(termFrequencies(analyse('paint, painted, dog', 'english'))).toEqual(
      new Map([
        ['paint', 2],
        ['dog', 1],
      ]),
    );
  });
});

describe('for every string', () => {
  const anyText = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.string({ unit: fc.constantFrom(...Array.from("a1_-.:/\\#@'é猫กか ")), maxLength: 300 }),
  );

  it('there are terms, none of them empty or longer than an identifier may be, in the order of their places', () => {
    fc.assert(
      fc.property(anyText, fc.constantFrom('english', 'french', 'arabic', 'basque'), (text, language) => {
        const { terms: found, length } = analyse(text, language);
        expect(found.every(({ text: term }) => term.length > 0 && term.length <= longestIdentifier)).toBe(true);
        expect(found.every(({ position }, index) => position >= (found[index - 1]?.position ?? 0))).toBe(true);
        expect(length).toBeLessThanOrEqual(found.length);
      }),
      { numRuns: 500 },
    );
  });

  it('terms are the same for every normal form of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        expect(terms(text.normalize('NFD'))).toEqual(terms(text.normalize('NFC')));
      }),
    );
  });

  it.each([
    ['one word', 'a'.repeat(1_000_000)],
    ['words', 'ab '.repeat(300_000)],
    ['connectors', '-'.repeat(1_000_000)],
    ['a joined name', 'a-'.repeat(500_000)],
    ['humps', 'aB'.repeat(500_000)],
    ['apostrophes', "a'".repeat(500_000)],
    ['pairs', '猫'.repeat(300_000)],
    ['marks', `a${'\u0301'.repeat(300_000)}`],
    ['digits', '1,'.repeat(300_000)],
  ])('of %s without end, terms are bounded, and take seconds of the processor at most', (_, text) => {
    const started = process.cpuUsage();
    expect(terms(text).length).toBeLessThanOrEqual(mostTerms);
    expect(process.cpuUsage(started).user / 1_000_000).toBeLessThan(10);
  });

  it('a long word is cut', () => {
    expect(terms('x'.repeat(100))).toEqual(['x'.repeat(longestWord)]);
  });
});
