import fc from 'fast-check';
import { cut, defaultByteBudget } from './cut.js';

const ranked = (...bytes: number[]) =>
  bytes.map((contextBytes, index) => ({ id: String.fromCharCode(97 + index), contextBytes }));
const ids = (items: readonly { id: string }[]) => items.map(({ id }) => id).join('');

describe('the cut', () => {
  it('takes the best, as many as wanted', () => {
    const { selected, dropped } = cut(ranked(10, 10, 10), { limit: 2, byteBudget: 100 });
    expect(selected).toEqual([
      { id: 'a', bytes: 10 },
      { id: 'b', bytes: 10 },
    ]);
    expect(dropped).toEqual([{ id: 'c', reason: 'limit' }]);
  });

  it('has a budget of 32 KiB by default', () => {
    expect(defaultByteBudget).toBe(32 * 1024);
  });

  it('passes over what does not fit any more, and goes on', () => {
    const { selected, dropped } = cut(ranked(60, 60, 40), { limit: 10, byteBudget: 100 });
    expect(ids(selected)).toBe('ac');
    expect(dropped).toEqual([{ id: 'b', reason: 'byte_budget' }]);
  });

  it('shows as much of the first result as fits, when it alone is too large', () => {
    expect(cut(ranked(500, 10), { limit: 10, byteBudget: 100 })).toEqual({
      selected: [{ id: 'a', bytes: 100 }],
      dropped: [{ id: 'b', reason: 'byte_budget' }],
    });
  });

  it('gives what is known no place', () => {
    const { selected, dropped } = cut(ranked(10, 10, 10), { limit: 2, byteBudget: 100, known: new Set(['a']) });
    expect(ids(selected)).toBe('bc');
    expect(dropped).toEqual([{ id: 'a', reason: 'known' }]);
  });

  it('lets the next fill the place of what has vanished', () => {
    const { selected, dropped } = cut(ranked(10, 10, 10), { limit: 2, byteBudget: 100, vanished: new Set(['b']) });
    expect(ids(selected)).toBe('ac');
    expect(dropped).toEqual([{ id: 'b', reason: 'vanished' }]);
  });

  it('keeps the order, the limit and the budget, and accounts for everything', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 60 }), { maxLength: 20 });
    fc.assert(
      fc.property(sizes, fc.integer({ min: 1, max: 10 }), fc.integer({ min: 1, max: 200 }), (bytes, limit, byteBudget) => {
        const items = ranked(...bytes);
        const { selected, dropped } = cut(items, { limit, byteBudget });
        expect(selected.length).toBeLessThanOrEqual(limit);
        expect(selected.reduce((sum, one) => sum + one.bytes, 0)).toBeLessThanOrEqual(byteBudget);
        expect(selected.length > 0).toBe(items.length > 0);
        expect(selected.map(({ id }) => id)).toEqual(selected.map(({ id }) => id).sort());
        expect([...selected, ...dropped].map(({ id }) => id).sort()).toEqual(items.map(({ id }) => id));
      }),
    );
  });
});
