import fc from 'fast-check';
import { boxAad, open, seal } from './sealed-box.js';

const key = () => fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes));
const integrityError = expect.objectContaining({ code: 'event_integrity' }) as Error;

describe('a sealed box', () => {
  it('opens with the key and the place it was sealed for, whatever the text', () =>
    fc.assert(
      fc.property(key(), fc.string({ unit: 'grapheme' }), fc.string(), (key, text, aad) => {
        expect(open(key, seal(key, text, aad), aad)).toBe(text);
      }),
    ));

  it('does not open in another place', () =>
    fc.assert(
      fc.property(key(), fc.string(), fc.string(), fc.string(), (key, text, aad, otherAad) => {
        fc.pre(aad !== otherAad);
        expect(() => open(key, seal(key, text, aad), otherAad)).toThrow(integrityError);
      }),
    ));

  it('does not open with another key', () =>
    fc.assert(
      fc.property(key(), key(), fc.string(), (key, otherKey, text) => {
        fc.pre(!key.equals(otherKey));
        expect(() => open(otherKey, seal(key, text, ''), '')).toThrow(integrityError);
      }),
    ));

  it('does not open after any single letter was changed, added or cut off', () =>
    fc.assert(
      fc.property(key(), fc.string(), fc.nat(), fc.constantFrom('A', 'b', '7', '_', '=', ' ', ''), (key, text, place, letter) => {
        const box = seal(key, text, 'here');
        const at = place % (box.length + 1);
        const altered = box.slice(0, at) + letter + box.slice(at + 1);
        fc.pre(altered !== box);
        expect(() => open(key, altered, 'here')).toThrow(integrityError);
      }),
    ));

  it('is another text each time, so that equal contents do not show', () => {
    const key = Buffer.alloc(32, 1);
    expect(seal(key, 'same', '')).not.toBe(seal(key, 'same', ''));
  });

  it('is written as its algorithm and base64url', () => {
    expect(seal(Buffer.alloc(32, 1), 'text', '')).toMatch(/^A256GCM\.[A-Za-z0-9_-]+$/);
  });

  it('is bound to team, stream, event and owner', () => {
    expect(boxAad({ team: 'team', stream: 'stream', eventId: 'event', owner: 'owner' })).toBe('team|stream|event|owner');
  });

  it('says nothing about what it holds when it does not open', () => {
    const box = seal(Buffer.alloc(32, 1), 'a secret', '');
    expect(() => open(Buffer.alloc(32, 2), box, '')).toThrow(/^a sealed box was altered$/);
  });
});
