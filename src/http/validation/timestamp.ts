const rfc3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/;

/** PostgreSQL and ISO texts agree on these years only. */
const earliest = Date.UTC(2000, 0, 1) - 63_082_281_600_000; // 0001-01-01T00:00:00Z
const latest = Date.UTC(10_000, 0, 1) - 1;

/**
 * Reads an RFC 3339 time with offset. Digits after the millisecond are dropped; leap seconds are refused, because no clock
 * here can hold them.
 *
 * @returns undefined for anything else, 30 February and years outside 0001 to 9999 included
 */
export function parseTimestamp(text: string): Date | undefined {
  const [, year, month, day, hour, minute, second, fraction = '0'] = rfc3339.exec(text) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59 || !inCalendar(+year, +month, +day)) return undefined;
  const offset = /[+-]\d{2}:\d{2}$/.exec(text)?.[0] ?? 'Z';
  const millisecond = fraction.slice(0, 3).padEnd(3, '0');
  const time = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millisecond}${offset}`);
  return time >= earliest && time <= latest ? new Date(time) : undefined;
}

function inCalendar(year: number, month: number, day: number): boolean {
  if (month < 1 || month > 12 || day < 1) return false;
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0;
  return day <= days;
}
