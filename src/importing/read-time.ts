import * as chrono from 'chrono-node';

/** From here on a number counts milliseconds, below it seconds: as seconds, it would lie in the year 5138. */
const milliseconds = 1e11;

/** No message tells its time in more, UTF-16 units; the parser tries its patterns at every place. */
const longestTime = 100;

const zoned = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/i;

/** What a time without a year is counted from: never now, or the same file would mean something else tomorrow. */
const noReference = { instant: new Date(0), timezone: 0 };

/**
 * A time as people and programs write it: ISO 8601, seconds or milliseconds since 1970, `1:56 pm on 8 May, 2023`. Without an
 * offset it is taken for UTC.
 *
 * @returns ISO 8601 in UTC; undefined for what is no time, or names no day with its year
 */
export function readTime(time: unknown): string | undefined {
  if (typeof time === 'number') return iso(new Date(time < milliseconds ? time * 1_000 : time));
  if (typeof time !== 'string' || time.length > longestTime) return undefined;
  const text = time.trim();
  if (zoned.test(text)) return iso(new Date(text.replace(' ', 'T')));
  const [result, second] = chrono.en.strict.parse(text, noReference);
  if (!result || second) return undefined;
  const { start } = result;
  if (!(['year', 'month', 'day'] as const).every((part) => start.isCertain(part))) return undefined;
  // Parts that are not named are guesses of the parser, such as noon.
  const part = (name: chrono.Component) => (start.isCertain(name) ? (start.get(name) ?? 0) : 0);
  const clock = [part('hour'), part('minute') - part('timezoneOffset'), part('second'), part('millisecond')] as const;
  return iso(new Date(Date.UTC(part('year'), part('month') - 1, part('day'), ...clock)));
}

const iso = (date: Date): string | undefined => (Number.isNaN(date.getTime()) ? undefined : date.toISOString());
