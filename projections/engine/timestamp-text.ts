const dayMs = 86_400_000;
/** Midnight of the first day of year 1, and of the day after year 9999, milliseconds since 1970. */
const firstPlain = -62_135_596_800_000;
const firstTooLate = 253_402_300_800_000;

/** The date before the time of the last timestamp: those of a batch are of few days. */
let lastDay = Number.NaN;
let lastDate = '';

const digits = (count: number, width: number): readonly string[] =>
  Array.from({ length: count }, (_, number) => String(number).padStart(width, '0'));
const two = digits(60, 2);
const three = digits(1000, 3);

/**
 * A moment as PostgreSQL reads it, in UTC: the driver would write the process's local time, whose offset before about 1900
 * is not whole minutes. Put together by hand, in a fifth of the time of `toISOString`: an event has several.
 *
 * @throws RangeError for an invalid date
 */
export function timestampText(date: Date): string {
  const time = date.getTime();
  if (!(time >= firstPlain && time < firstTooLate)) return farTimestamp(date);
  const day = Math.floor(time / dayMs);
  if (day !== lastDay) {
    lastDate = new Date(day * dayMs).toISOString().slice(0, 11);
    lastDay = day;
  }
  const ms = time - day * dayMs;
  const seconds = Math.floor(ms / 1000);
  const minutes = Math.floor(seconds / 60);
  return `${lastDate}${two[Math.floor(minutes / 60)]}:${two[minutes % 60]}:${two[seconds % 60]}.${three[ms % 1000]}Z`;
}

/** ISO 8601 gives such years six digits and a sign, which PostgreSQL does not read. */
function farTimestamp(date: Date): string {
  const [, sign, year = '', rest = ''] = /^([+-]?)(\d+)(.*)Z$/.exec(date.toISOString()) ?? [];
  if (sign === '-' || Number(year) === 0) return `${String(Number(year) + 1).padStart(4, '0')}${rest}Z BC`;
  return `${String(Number(year)).padStart(4, '0')}${rest}Z`;
}
