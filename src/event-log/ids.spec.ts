import fc from 'fast-check';
import { validate, version } from 'uuid';
import { commandIdFromKey, deriveEventId, deriveId, naturalId, newCommandId } from './ids.js';

const secret = Buffer.alloc(32, 1);
const text = () => fc.string({ unit: 'grapheme' });
const naturalKey = () => fc.array(text(), { maxLength: 4 });

describe('ids', () => {
  it('are the same each time, and UUIDs that their users accept', () =>
    fc.assert(
      fc.property(naturalKey(), text(), fc.nat(9), (key, name, generation) => {
        const make = () => [naturalId(secret, key, generation), commandIdFromKey(secret, name), deriveId(commandId, name)];
        expect(make()).toEqual(make());
        for (const id of make()) expect([validate(id), version(id), id]).toEqual([true, 5, id.toLowerCase()]);
      }),
    ));

  it('differ for different natural keys, generations and secrets', () =>
    fc.assert(
      fc.property(naturalKey(), naturalKey(), fc.nat(3), fc.nat(3), (key, otherKey, generation, otherGeneration) => {
        const same = JSON.stringify([key, generation]) === JSON.stringify([otherKey, otherGeneration]);
        expect(naturalId(secret, key, generation) === naturalId(secret, otherKey, otherGeneration)).toBe(same);
        expect(naturalId(secret, key, generation)).not.toBe(naturalId(Buffer.alloc(32, 2), key, generation));
      }),
    ));

  it('do not mix up the parts of a natural key', () => {
    const keys = [['ab', 'c'], ['a', 'bc'], ['abc'], ['abc', ''], ['', 'abc'], ['a"', '"bc'], ['0', 'abc']];
    expect(new Set(keys.map((key) => naturalId(secret, key, 0))).size).toBe(keys.length);
  });

  it('of commands differ by idempotency key and by secret', () => {
    const ids = [commandIdFromKey(secret, 'a'), commandIdFromKey(secret, 'b'), commandIdFromKey(Buffer.alloc(32, 2), 'a')];
    expect(new Set(ids).size).toBe(3);
  });

  it('of events differ by command, stream and place', () => {
    const other = newCommandId();
    const ids = [
      deriveEventId(commandId, 's', 0),
      deriveEventId(commandId, 's', 1),
      deriveEventId(commandId, 't', 0),
      deriveEventId(other, 's', 0),
    ];
    expect(new Set(ids).size).toBe(4);
  });

  it('never change from one version of the product to the next', () => {
    expect(naturalId(secret, ['source', 'revision'], 0)).toBe('da7129b6-cce8-528e-bd3d-dc3b6f8db09c');
    expect(commandIdFromKey(secret, 'order-1')).toBe('1f77a1d2-5bb8-5f46-b620-d3f179283c7d');
    expect(deriveId(commandId, 'execution')).toBe('7b18c9a1-ba48-52c3-8f03-87e6c7694a64');
    expect(deriveEventId(commandId, 'stream', 0)).toBe('dd491615-6910-53f2-8a31-bcf6d9012da3');
  });
});

const commandId = '11111111-1111-4111-8111-111111111111';
