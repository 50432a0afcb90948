import fc from 'fast-check';
import { canonicalJson, jsonValue, maxJsonDepth } from './json.js';

const notEncodable = expect.objectContaining({ code: 'event_not_encodable', eventType: 'Tested' }) as Error;
const wellFormedJson = () => fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme' });

describe('the canonical form', () => {
  it('is the same text whatever the order of names', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), wellFormedJson()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(jsonValue('Tested', reversed))).toBe(canonicalJson(jsonValue('Tested', value)));
      }),
    ));

  it('loses nothing that JSON can say', () =>
    fc.assert(
      fc.property(wellFormedJson(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(canonicalJson(jsonValue('Tested', JSON.parse(text))))).toEqual(JSON.parse(text));
      }),
    ));

  // From section 3.2.3 and appendix B of RFC 8785.
  it('sorts names by UTF-16 code units and writes numbers as ECMAScript does', () => {
    expect(canonicalJson({ '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\u{1f600}': 5, '\u0080': 6, '\u00f6': 7 })).toBe(
      '{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}',
    );
    expect(canonicalJson([333333333.33333329, 1e30, 4.5, 2e-3, 1e-27, -0])).toBe('[333333333.3333333,1e+30,4.5,0.002,1e-27,0]');
  });
});

describe('a JSON value', () => {
  it('has dates as ISO strings and leaves out what is undefined', () => {
    const value = { at: new Date('2026-01-02T03:04:05.678Z'), note: undefined, inner: { also: undefined, kept: null } };
    expect(jsonValue('Tested', value)).toStrictEqual({ at: '2026-01-02T03:04:05.678Z', inner: { kept: null } });
  });

  it('keeps members of class instances', () => {
    class Plan {
      readonly steps = ['one'];
    }
    expect(jsonValue('Tested', { plan: new Plan() })).toEqual({ plan: { steps: ['one'] } });
  });

  it('keeps a member called __proto__', () => {
    const value: unknown = JSON.parse('{"__proto__":{"admin":true}}');
    expect(canonicalJson(jsonValue('Tested', value))).toBe('{"__proto__":{"admin":true}}');
  });

  const circle: Record<string, unknown> = {};
  circle.again = [circle];
  const nested = (levels: number): unknown => JSON.parse('['.repeat(levels) + ']'.repeat(levels));

  it.each<[string, unknown]>([
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['infinity', Number.POSITIVE_INFINITY],
    ['undefined in a list', [undefined]],
    ['a hole in a list', Array(1)],
    ['a circle', circle],
    ['nesting without end', nested(maxJsonDepth + 1)],
    ['half a surrogate pair', 'x\ud800y'],
    ['half a surrogate pair in a name', { 'x\udc00': 1 }],
    ['an invalid date', new Date(Number.NaN)],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a map', new Map()],
    ['a set', new Set()],
    ['bytes', Buffer.from('x')],
    ['a promise', Promise.resolve()],
    ['a boxed string', Object('x')],
  ])('cannot be %s', (_, value) => {
    expect(() => jsonValue('Tested', { field: { list: [value] } })).toThrow(notEncodable);
  });

  it('may be nested as deep as the limit', () => {
    expect(canonicalJson(jsonValue('Tested', nested(maxJsonDepth)))).toHaveLength(2 * maxJsonDepth);
  });

  it('is refused with the place, not the value', () => {
    expect(() => jsonValue('Tested', { steps: [{ name: 'secret\ud800' }] })).toThrow(
      'Tested: steps[0].name is text with half a surrogate pair',
    );
  });
});
