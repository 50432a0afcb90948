import { Positions } from './positions.js';

const log = '11111111-1111-4111-8111-111111111111';
const invalid = expect.objectContaining({ status: 422, code: 'position_invalid' }) as Error;

describe('a position', () => {
  it('comes back from its token', () => {
    const positions = new Positions(log);
    for (const position of [0n, 7n, 2n ** 62n]) expect(positions.parse(positions.token(position))).toBe(position);
  });

  it('of another log is refused', () => {
    const other = new Positions('22222222-2222-4222-8222-222222222222').token(7n);
    expect(() => new Positions(log).parse(other)).toThrow(invalid);
  });

  it.each(['', '7', 'bm90IGEgcG9zaXRpb24'])('is refused when it is no token: %j', (token) => {
    expect(() => new Positions(log).parse(token)).toThrow(invalid);
  });
});
