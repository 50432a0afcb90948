import fc from 'fast-check';
import { bounded } from './bounded.js';

describe('a bounded number', () => {
  it.each([
    ['not a number', Number.NaN],
    ['infinite', Number.POSITIVE_INFINITY],
    ['infinite and negative', Number.NEGATIVE_INFINITY],
    ['text', '0.7'],
    ['null', null],
    ['missing', undefined],
    ['a bigint', 1n],
    ['a list with one number', [0.7]],
  ])('is 0 when the value is %s', (_, value) => {
    expect(bounded(value)).toBe(0);
  });

  it.each([
    [-1, 0],
    [7, 1],
    [0, 0],
    [0.3, 0.3],
    [1, 1],
  ])('turns %d into %d', (value, expected) => {
    expect(bounded(value)).toBe(expected);
  });

  it('lies between 0 and 1 whatever comes in, and leaves alone what already does', () => {
    fc.assert(
      fc.property(fc.anything(), (value) => {
        const result = bounded(value);
        expect(result >= 0 && result <= 1).toBe(true);
        expect(bounded(result)).toBe(result);
      }),
    );
  });
});
