import fc from 'fast-check';
import { inexactNumber } from './exact-numbers.js';

describe('a number of a request', () => {
  it.each([
    '9007199254740993',
    '-9007199254740993',
    '12345678901234567890',
    '0.1234567890123456789',
    '1.00000000000000000001',
    '1e-400',
    '9.007199254740993e15',
    '123456789012345678e2',
  ])('is not exact when it is %s', (literal) => {
    expect(inexactNumber(`{"graph":{"a":[1,${literal}]}}`)).toBe('graph');
  });

  it.each([
    '0',
    '-0',
    '0.0',
    '-0.000e7',
    '1',
    '1.50',
    '1e2',
    '1E+2',
    '100e-2',
    '0.1',
    '9007199254740991',
    '9007199254740992',
    '9007199254740994',
    '1e300',
    '123e298',
    '5e-324',
    '1e23',
    '100000000000000000000000',
    '0.30000000000000004',
  ])('is exact when it is %s', (literal) => {
    expect(inexactNumber(`{"graph":{"a":[1,${literal}]}}`)).toBeUndefined();
  });

  it('is exact whenever JSON itself wrote it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => inexactNumber(JSON.stringify({ value })) === undefined),
      { numRuns: 500 },
    );
  });

  it('is exact when it is a double, whatever its exponent', () => {
    const finite = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(finite, (value) => inexactNumber(`[${value.toExponential()}]`) === undefined),
      { numRuns: 1_000 },
    );
  });

  it('beyond a double is left to the limits of the body', () => expect(inexactNumber('{"a":1e999}')).toBeUndefined());

  it('may stand inside a text, with any digits and quotes', () => {
    expect(inexactNumber('{"a":"9007199254740993 \\" 9007199254740993","b\\\\":1}')).toBeUndefined();
    expect(inexactNumber('{"9007199254740993":1}')).toBeUndefined();
  });

  it.each([
    ['{"a":1,"graph":{"b":{"c":9007199254740993}},"z":2}', 'graph'],
    ['{"gr\\u0061ph":9007199254740993}', 'graph'],
    ['{"graph":{"b":1},"limit":1.00000000000000000001}', 'limit'],
    ['{"a b":9007199254740993}', '(not shown)'],
    ['9007199254740993', 'body'],
    ['[1,9007199254740993]', 'body'],
    [`{"a":1,"${'x'.repeat(5_000)}":9007199254740993}`, '(not shown)'],
  ])('is named by its top-level field: %s', (json, field) => {
    expect(inexactNumber(json)).toBe(field);
  });

  it('is found at the end of a long body in no time', () => {
    const started = performance.now();
    expect(inexactNumber(`{"a":"${'\\"'.repeat(8_000_000)}","b":9007199254740993}`)).toBe('b');
    expect(performance.now() - started).toBeLessThan(3_000);
  });
});
