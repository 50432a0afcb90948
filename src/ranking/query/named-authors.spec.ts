import { mostNamedAuthors, namedAuthors, nameWords } from './named-authors.js';

const authors = ['Anna', 'Jane Smith', 'Jane Brown', 'Will', 'Ömer', 'assistant', '李雷'];
const named = (question: string) => namedAuthors(question, authors, 'english').names;

describe('the authors a question names', () => {
  it.each([
    ['What did Anna paint?', ['Anna']],
    ["Where is Anna's dog?", ['Anna']],
    ['what did anna paint', ['Anna']],
    ['Did Jane agree with Anna?', ['Jane Brown', 'Jane Smith', 'Anna']],
    ['What did Smith say?', ['Jane Smith']],
    ['What did Will say?', ['Will']],
    ['Ask Ömer', ['Ömer']],
    ['what did the assistant say', ['assistant']],
    ['What did the assistant say?', ['assistant']],
  ])('in "%s" are %j', (question, expected) => {
    expect(named(question)).toEqual(expected);
  });

  it.each(['Will it rain?', 'What will it cost?', 'will it rain', 'What about Annabel?', 'The ANNA project', ''])(
    'are none in "%s"',
    (question) => {
      expect(named(question)).toEqual([]);
    },
  );

  it('are found without accents where the question has no capitals', () => {
    expect(named('what did omer say')).toEqual(['Ömer']);
  });

  it('leave the words by which they are named', () => {
    expect(namedAuthors('Did Jane agree with Anna?', authors, 'english').words).toEqual(new Set(['jane', 'anna']));
  });

  it('are eight at most', () => {
    const many = Array.from({ length: 20 }, (_, index) => `Jane ${index}`);
    expect(namedAuthors('What did Jane say?', many, 'english').names).toHaveLength(mostNamedAuthors);
  });
});

describe('words that may name somebody', () => {
  it('are folded, each once, and a hundred at most', () => {
    expect(nameWords('Did Ömer meet ömer?')).toEqual(['did', 'omer', 'meet']);
    expect(nameWords(Array.from({ length: 300 }, (_, index) => `w${index}`).join(' '))).toHaveLength(100);
  });
});
