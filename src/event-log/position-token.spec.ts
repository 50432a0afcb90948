import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { parsePositionToken, positionToken } from './position-token.js';

describe('a position token', () => {
  it('gives back log and position', () =>
    fc.assert(
      fc.property(fc.uuid(), fc.bigInt({ min: -1n, max: 2n ** 63n - 1n }), (logId, position) => {
        expect(parsePositionToken(positionToken(logId, position))).toEqual({ logId, position });
      }),
    ));

  it('fits into a URL and a header as it is', () => {
    expect(positionToken(randomUUID(), 123n)).toMatch(/^[A-Za-z0-9_-]+$/);
  });

  it('is no other text', () =>
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parsePositionToken(text)).toBeUndefined();
        expect(parsePositionToken(Buffer.from(text).toString('base64url'))).toBeUndefined();
      }),
    ));

  const logId = '11111111-1111-4111-8111-111111111111';
  it.each([
    positionToken(logId, 5n) + '=',
    ` ${positionToken(logId, 5n)}`,
    positionToken(logId, -2n),
    positionToken(logId, 2n ** 63n),
    positionToken('no-uuid', 5n),
    positionToken(logId.toUpperCase().replace('1', 'A'), 5n),
    Buffer.from(`${logId}@05`).toString('base64url'),
    Buffer.from(`${logId}@5\n`).toString('base64url'),
  ])('is not %p', (text) => {
    expect(parsePositionToken(text)).toBeUndefined();
  });
});
