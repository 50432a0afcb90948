import fc from 'fast-check';
import { isSlug, slugOf } from './slug.js';

describe('a slug', () => {
  it.each(['a', '0', 'refund-order', 'team.support_2', 'a'.repeat(64)])('may be %p', (text) => expect(isSlug(text)).toBe(true));

  it.each(['', '-', 'a-', '_a', '.a', 'A', 'a b', 'a\n', 'é', 'a/b', 'a'.repeat(65), 1, undefined, null, ['a']])(
    'may not be %p',
    (value) => expect(isSlug(value)).toBe(false),
  );
});

describe('a text made into a slug', () => {
  it.each([
    ['Refund Order', 'refund-order'],
    ['  refund   order! ', 'refund-order'],
    ['"refund_order"', 'refund_order'],
    ['Größe ändern', 'gr-e-ndern'],
    ['v1.2', 'v1.2'],
    [`${'a'.repeat(63)} b`, 'a'.repeat(63)],
  ])('is, for %p, %p', (text, slug) => expect(slugOf(text)).toBe(slug));

  it.each(['', '  ', '?!', '-_.', '日本'])('is none for %p', (text) => expect(slugOf(text)).toBeUndefined());

  const texts = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.string({ unit: fc.constantFrom('a', 'B', '9', '-', '_', '.', ' ', 'É', 'İ'), maxLength: 200 }),
  );

  it('is a slug or nothing, whatever the text', () =>
    fc.assert(fc.property(texts, (text) => slugOf(text) === undefined || isSlug(slugOf(text)))));

  it('leaves a slug as it is', () =>
    fc.assert(
      fc.property(texts, (text) => {
        const slug = slugOf(text);
        expect(slug === undefined ? undefined : slugOf(slug)).toBe(slug);
      }),
    ));
});
