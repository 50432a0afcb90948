import fc from 'fast-check';
import { firstBytes } from './first-bytes.js';

describe('the first bytes of a text', () => {
  it('never cut a character in two', () => {
    expect(firstBytes('aé😀z', 2)).toBe('a');
    expect(firstBytes('aé😀z', 3)).toBe('aé');
    expect(firstBytes('aé😀z', 6)).toBe('aé');
    expect(firstBytes('aé😀z', 7)).toBe('aé😀');
    expect(firstBytes('aé😀z', 100)).toBe('aé😀z');
    expect(firstBytes('😀', 0)).toBe('');
  });

  it('are the longest beginning that fits', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, bytes) => {
        const cut = firstBytes(text, bytes);
        expect(text.startsWith(cut)).toBe(true);
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytes);
        const next = Array.from(text.slice(cut.length))[0] ?? '';
        if (next !== '') expect(Buffer.byteLength(cut + next)).toBeGreaterThan(bytes);
      }),
    ));
});
