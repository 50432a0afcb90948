import fc from 'fast-check';
import { canonicalJson, type JsonValue } from '../json.js';
import { proposedEvent } from './stored-form.js';

const id = '0b5c0000-0000-4000-8000-000000000001';
const sent = (text: string) => proposedEvent({ id, type: 'BookLent', data: text, metadata: text });
const contentType = (text: string) => sent(text).contentType;

describe('an event as it is sent', () => {
  it.each(['{"a":[1,true,null,"é\\n"],"b":{}}', '"text"', '[]', 'null', '1e+30', '{"__proto__":1}', '"\\ud800"'])(
    'is JSON where nothing of %s is lost by reading and writing it',
    (text) => {
      expect(contentType(text)).toBe('application/json');
      expect(JSON.stringify(sent(text).data)).toBe(text);
    },
  );

  it.each(['{ "a":1}', '{"a":1,"a":2}', '{"b":1,"1":2}', '1.0', '-0', '12345678901234567890', '"\\u0041"'])(
    'is bytes where something of %s would be lost',
    (text) => {
      expect(contentType(text)).toBe('application/octet-stream');
      expect(Buffer.from(sent(text).data as Uint8Array).toString()).toBe(text);
    },
  );

  it('has its metadata as bytes, because the client sends none of null, false, 0 and ""', () => {
    for (const text of ['null', 'false', '0', '""']) expect(Buffer.from(sent(text).metadata as Uint8Array).toString()).toBe(text);
  });

  it('is JSON for whatever the codec writes, unless a name begins with a digit', () =>
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme', maxDepth: 4 }), (value) => {
        const text = canonicalJson(value as JsonValue);
        fc.pre(!/"\d/.test(text));
        expect(contentType(text)).toBe('application/json');
      }),
    ));
});
