import fc from 'fast-check';
import { timestampText } from './timestamp-text.js';

describe('a moment as PostgreSQL reads it', () => {
  it('is that of ISO 8601 in the years 1 to 9999', () =>
    fc.assert(
      fc.property(
        fc.date({ min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
        (date) => expect(timestampText(date)).toBe(date.toISOString()),
      ),
    ));

  it.each([
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
    ['+010000-01-01T00:00:00.000Z', '10000-01-01T00:00:00.000Z'],
    ['0000-12-31T23:59:59.999Z', '0001-12-31T23:59:59.999Z BC'],
    ['-000043-03-15T12:00:00.000Z', '0044-03-15T12:00:00.000Z BC'],
  ])('%s is %s', (iso, text) => expect(timestampText(new Date(iso))).toBe(text));

  it('is not made of an invalid date', () => expect(() => timestampText(new Date(Number.NaN))).toThrow(RangeError));
});
