import fc from 'fast-check';
import { mostQueryTerms, parseQuery, type QueryContext } from './parse-query.js';

const context: QueryContext = { language: 'english', authors: ['Anna', 'Ben'], now: new Date('2026-03-18'), issueKeys: 'hard' };
const parse = (text: string, changes: Partial<QueryContext> = {}) => parseQuery(text, { ...context, ...changes });

describe('a question', () => {
  it('is parted into content, authors, times and wishes', () => {
    expect(parse('When did Anna plant the old apple trees in June 2023?')).toMatchObject({
      terms: ['plant', 'old', 'appl', 'tree'],
      pairs: [
        ['old', 'appl'],
        ['appl', 'tree'],
      ],
      phrases: [],
      authors: ['Anna'],
      currentness: false,
      asksTime: true,
      temporal: [{ kind: 'interval' }],
      anchors: { hard: [] },
    });
  });

  it('of nothing but a name or a time keeps its words', () => {
    expect(parse('Anna').terms).toEqual(['anna']);
    expect(parse('June 2023').terms).toEqual(['june', '2023']);
    expect(parse('What did Anna say in June 2023?').terms).toEqual(['sai']);
    expect(parse('Anna in June 2023').terms).toEqual(['june', '2023']);
  });

  it.each([
    ['He said "the old mill" twice', [['old', 'mill']]],
    [
      '“apple tree” and «red barn»',
      [
        ['appl', 'tree'],
        ['red', 'barn'],
      ],
    ],
    ['"the" and ""', []],
    ['an unclosed "quote', []],
  ])('has the quoted phrases of %s', (text, expected) => {
    expect(parse(text).phrases.map((phrase) => phrase.map((term) => term.text))).toEqual(expected);
  });

  it.each(['What is the current plan?', 'Where does he live right now?', 'the latest price', 'Is it still open?'])(
    '"%s" wants what holds now',
    (text) => {
      expect(parse(text).currentness).toBe(true);
    },
  );

  it.each(['What did they do?', 'electrical currents', 'nowhere'])('"%s" does not', (text) => {
    expect(parse(text).currentness).toBe(false);
  });

  it.each(['When was it?', 'How long did it take?', 'Which year was that?'])('"%s" wants a time', (text) => {
    expect(parse(text).asksTime).toBe(true);
  });

  it('has no cues in a language whose cues are not known', () => {
    expect(parse('When was the latest?', { language: 'german' })).toMatchObject({ currentness: false, asksTime: false });
  });

  it('may be a name as a whole, and has the tokens that are no words as names', () => {
    expect(parse('what is in doc/handbook-3?').names).toEqual(['what is in doc/handbook-3?', 'doc/handbook-3']);
    expect(parse('long '.repeat(200)).names).toEqual([]);
  });

  it('of the profile that only prefers issue keys requires none', () => {
    expect(parse('PROJ-123', { issueKeys: 'ranking' }).anchors).toMatchObject({ hard: [], ranking: ['proj-123'] });
  });

  it('of any text is parsed, within bounds', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        const query = parse(text);
        expect(query.terms.length).toBeLessThanOrEqual(mostQueryTerms);
        expect(new Set(query.terms).size).toBe(query.terms.length);
        expect(query.names.length).toBeLessThanOrEqual(20);
      }),
      { numRuns: 500 },
    );
    expect(parse(Array.from({ length: 500 }, (_, index) => `word${index}`).join(' ')).terms).toHaveLength(mostQueryTerms);
  });
});
