import fc from 'fast-check';
import { expectedRevisionOf } from './command-context.js';
import { idempotencyKeyOf } from './idempotency/command-key.js';

const ifMatchInvalid = expect.objectContaining({ status: 422, code: 'if_match_invalid' }) as Error;
const keyInvalid = expect.objectContaining({ status: 422, code: 'idempotency_key_invalid' }) as Error;

describe('If-Match', () => {
  it.each([
    ['"3"', 3n],
    ['W/"3"', 3n],
    [' "0" ', 0n],
    ['*', undefined],
    [undefined, undefined],
  ])('%j expects %s', (header, revision) => {
    expect(expectedRevisionOf(header)).toBe(revision);
  });

  it.each(['3', '"3', '"03"', '"-1"', '"a"', '""', '"1", "2"', 'w/"3"', '"99999999999999999999"', ''])('refuses %j', (header) => {
    expect(() => expectedRevisionOf(header)).toThrow(ifMatchInvalid);
  });

  it('reads every revision back from its ETag', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 18n - 1n }), (revision) => expectedRevisionOf(`"${revision}"`) === revision),
    );
  });
});

describe('Idempotency-Key', () => {
  it('takes 1 to 255 visible ASCII characters', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 1,
      maxLength: 255,
    });
    fc.assert(fc.property(visible, (key) => idempotencyKeyOf(key) === key));
    expect(idempotencyKeyOf(undefined)).toBeUndefined();
  });

  it.each([[''], [' '], ['a b'], ['é'], ['a\tb'], ['x'.repeat(256)], [['a', 'b']]])('refuses %j', (header) => {
    expect(() => idempotencyKeyOf(header)).toThrow(keyInvalid);
  });
});
