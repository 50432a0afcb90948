import fc from 'fast-check';
import { cursorOf, pageOf, parseCursor, positionPlace } from './paging.js';

const invalid = expect.objectContaining({ status: 422, code: 'cursor_invalid' }) as Error;

describe('a cursor', () => {
  it('comes back as the place it was made from', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }),
        (position) => parseCursor(cursorOf([position]), positionPlace) === position,
      ),
    );
  });

  it('is refused when it is none of ours', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(() => parseCursor(text, positionPlace)).toThrow(invalid);
      }),
    );
  });

  it.each([[[]], [['1', '2']], [['-1']], [['1.5']], [['x']], [[String(2n ** 63n)]], [['']]])(
    'is refused for another place: %j',
    (place) => {
      expect(() => parseCursor(cursorOf(place), positionPlace)).toThrow(invalid);
    },
  );
});

describe('a page', () => {
  const page = (rows: number[]) =>
    pageOf(
      rows,
      2,
      (row) => [row],
      (row) => `item ${row}`,
    );

  it('names the place after its last item when there are more', () => {
    expect(page([1, 2, 3])).toEqual({ items: ['item 1', 'item 2'], next_cursor: cursorOf([2]) });
  });

  it('has no cursor when it is the last', () => {
    expect(page([1, 2])).toEqual({ items: ['item 1', 'item 2'], next_cursor: null });
    expect(page([])).toEqual({ items: [], next_cursor: null });
  });
});
