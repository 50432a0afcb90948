import { inspect } from 'node:util';
import { MasterKey } from './master-key.js';

const dataKey = Buffer.alloc(32, 7);
const masterKey = new MasterKey(Buffer.alloc(32, 1));
const unavailable = expect.objectContaining({ code: 'key_unavailable' }) as Error;

describe('the master key', () => {
  it('unwraps what it wrapped', () => {
    expect(masterKey.unwrap(masterKey.wrap(dataKey, 'team|owner'), 'team|owner')).toEqual(dataKey);
  });

  it('does not unwrap a key that belongs to another owner', () => {
    expect(() => masterKey.unwrap(masterKey.wrap(dataKey, 'team|owner'), 'team|other')).toThrow(unavailable);
  });

  it('does not unwrap what another master key wrapped', () => {
    const other = new MasterKey(Buffer.alloc(32, 2));
    expect(() => masterKey.unwrap(other.wrap(dataKey, 'team|owner'), 'team|owner')).toThrow(unavailable);
  });

  it.each([0, 5, 28, 59])('does not unwrap the first %i bytes of a wrapped key', (length) => {
    expect(() => masterKey.unwrap(masterKey.wrap(dataKey, '').subarray(0, length), '')).toThrow(unavailable);
  });

  it('has exactly 32 bytes', () => {
    expect(() => new MasterKey(Buffer.alloc(31))).toThrow('31 bytes');
  });

  it('does not show itself when it is printed', () => {
    const secret = new MasterKey(Buffer.from('0123456789abcdef0123456789abcdef'));
    expect(inspect(secret, { depth: null, showHidden: true }) + JSON.stringify(secret)).not.toMatch(/30 31 32|\b48\b|0123/);
  });
});
