import { differingFields, missingLines } from './documented-output.js';
import { blocksOf } from './markdown.js';

describe('documented output', () => {
  it('agrees when only ids, times, keys and addresses differ', () => {
    const said = 'Team shop has the id 11111111-2222-3333-4444-555555555555\nat http://127.0.0.1:7070, 2030-01-01T00:00:00.000Z';
    const printed =
      'Team shop has the id 66666666-2222-3333-4444-555555555555\nmore\nat http://127.0.0.1:41234, 2031-02-03T04:05:06.789Z';
    expect(missingLines(said, printed)).toEqual([]);
  });

  it('names lines that were not printed, or not in that order', () => {
    expect(missingLines('one\ntwo\nthree', 'two\none')).toEqual(['two', 'three']);
  });

  it('takes an ellipsis for anything, and nothing else for a pattern', () => {
    expect(missingLines('a … (b)', 'a long tale (b)')).toEqual([]);
    expect(missingLines('a.c', 'abc')).toEqual(['a.c']);
  });

  it('compares the fields that are shown, and numbers to the decimals that are shown', () => {
    const printed = { total: 0.8627946, runs: 20, matches: [{ id: 'x', more: 1 }], note: 'It is long.' };
    expect(differingFields({ total: 0.863, runs: 20, matches: [{ id: 'x' }], note: 'It…' }, printed)).toEqual([]);
    expect(differingFields({ total: 0.862, runs: 21, matches: [], note: 'That…', none: null }, printed)).toEqual([
      '$.total is 0.8627946 instead of 0.862',
      '$.runs is 20 instead of 21',
      '$.matches has 1 items instead of 0',
      '$.note is "It is long." instead of "That…"',
      '$.none is undefined instead of null',
    ]);
  });
});

describe('blocks of a page', () => {
  it('are found with their language and the words after it', () => {
    expect(blocksOf('text\n```sh run\nnpm test\n```\nmore\n```json output\n{}\n```\n')).toEqual([
      { language: 'sh', words: ['run'], text: 'npm test\n' },
      { language: 'json', words: ['output'], text: '{}\n' },
    ]);
  });
});
