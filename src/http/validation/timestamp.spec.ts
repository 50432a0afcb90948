import fc from 'fast-check';
import { parseTimestamp } from './timestamp.js';

describe('a timestamp', () => {
  it.each([
    ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
    ['2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00.123Z'],
    ['2024-02-29T23:59:59-23:59', '2024-03-01T23:58:59.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(iso);
  });

  it.each([
    ['2026-01-31T12:00:00', 'it has no offset'],
    ['2026-01-31', 'it is a date'],
    ['2026-02-30T12:00:00Z', 'February has no 30th'],
    ['2023-02-29T12:00:00Z', '2023 is no leap year'],
    ['1900-02-29T12:00:00Z', '1900 was no leap year'],
    ['2026-13-01T12:00:00Z', 'there is no 13th month'],
    ['2026-00-10T12:00:00Z', 'there is no month 0'],
    ['2026-01-31T24:00:00Z', 'hours end at 23'],
    ['2026-01-31T12:60:00Z', 'minutes end at 59'],
    ['2026-01-31T23:59:60Z', 'leap seconds cannot be held'],
    ['2026-01-31T12:00:00+24:00', 'offsets end at 23:59'],
    ['2026-01-31T12:00:00+0200', 'the offset has no colon'],
    ['2026-01-31 12:00:00Z', 'there is no T'],
    ['0000-01-01T00:00:00Z', 'PostgreSQL has no year 0'],
    ['0001-01-01T00:00:00+01:00', 'it is in year 0 in UTC'],
    ['9999-12-31T23:59:59-01:00', 'it is in year 10000 in UTC'],
    ['20260131T120000Z', 'it is the basic format'],
    ['1767182400', 'it is a number'],
    [' 2026-01-31T12:00:00Z', 'it begins with a space'],
    ['', 'it is empty'],
  ])('%s is refused: %s', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it('reads every time that Date writes', () => {
    const years = { min: new Date('0001-01-01T00:00:00Z'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true };
    fc.assert(fc.property(fc.date(years), (time) => parseTimestamp(time.toISOString())?.getTime() === time.getTime()));
  });

  it('never reads a time that the calendar does not have', () => {
    const two = (number: number) => String(number).padStart(2, '0');
    const parts = fc.tuple(fc.integer({ min: 1, max: 9998 }), fc.nat(15), fc.nat(35), fc.nat(30), fc.nat(70), fc.nat(70));
    fc.assert(
      fc.property(parts, ([year, month, day, hour, minute, second]) => {
        const text = `${String(year).padStart(4, '0')}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`;
        const parsed = parseTimestamp(`${text}Z`);
        return parsed === undefined || parsed.toISOString().startsWith(text);
      }),
    );
  });

  it('never throws', () => {
    fc.assert(fc.property(fc.string(), (text) => parseTimestamp(text) === undefined || !Number.isNaN(Date.parse(text))));
  });
});
