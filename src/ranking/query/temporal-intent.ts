import * as chrono from 'chrono-node';

/**
 * A time a question speaks of. An interval is half-open, from <= t < to, in milliseconds since 1970; a month or day of
 * unnamed year is meant in every year.
 */
export type TemporalIntent =
  | { readonly kind: 'interval'; readonly from: number; readonly to: number }
  | { readonly kind: 'calendar'; readonly month: number /* 1..12 */; readonly day: number | undefined };

export interface TemporalReading {
  readonly intents: readonly TemporalIntent[];
  /** The question with the words about time taken out: they say when, not what. */
  readonly rest: string;
}

export const dayMs = 86_400_000;
/** Dates of one question that are heeded. */
const mostIntents = 4;
/** Longer questions are read so far: the parser tries its patterns at every place. */
const longestRead = 2_000; // UTF-16 units

type Reader = { parse: (text: string, reference: chrono.ParsingReference) => chrono.ParsedResult[] };

/** Languages whose dates the library reads; others are read for what looks the same in all: nothing but ISO dates. */
const readers: Readonly<Record<string, Reader>> = {
  arabic: chrono.ar.casual,
  dutch: chrono.nl.casual,
  english: chrono.en.casual,
  finnish: chrono.fi.casual,
  french: chrono.fr.casual,
  german: chrono.de.casual,
  indonesian: chrono.id.casual,
  italian: chrono.it.casual,
  portuguese: chrono.pt.casual,
  russian: chrono.ru.casual,
  spanish: chrono.es.casual,
  swedish: chrono.sv.casual,
};

/**
 * The dates in a question, absolute ones and those relative to `now`, as UTC days.
 *
 * Times of day alone ("at 10:30", "tonight") and weekdays alone are no dates of a memory and are left in the question.
 */
export function readTemporalIntent(question: string, language: string, now: Date): TemporalReading {
  const text = question.slice(0, longestRead);
  const reference = { instant: now, timezone: 0 };
  const reader = Object.hasOwn(readers, language) ? readers[language] : undefined;
  const found = reader ? reader.parse(text, reference) : isoDates(text, reference);
  const read = found.flatMap((result) => {
    const intent = intentOf(result);
    return intent ? [{ intent, start: result.index, end: result.index + result.text.length }] : [];
  });
  const kept = read.slice(0, mostIntents);
  return { intents: kept.map(({ intent }) => intent), rest: without(question, kept) };
}

function isoDates(text: string, reference: chrono.ParsingReference): chrono.ParsedResult[] {
  return /\d{4}-\d{2}-\d{2}/.test(text)
    ? chrono.en.strict.parse(text, reference).filter(({ text: date }) => /^\d{4}-\d{2}-\d{2}/.test(date))
    : [];
}

function intentOf({ start, end, text }: chrono.ParsedResult): TemporalIntent | undefined {
  const isDay = start.isCertain('day');
  if (start.isCertain('second') || !(isDay || start.isCertain('month') || start.isCertain('year'))) return undefined;
  const month = start.get('month') ?? 1;
  if (!start.isCertain('year')) return { kind: 'calendar', month, day: isDay ? (start.get('day') ?? undefined) : undefined };
  const span = end ? spanOf(start, end) : spanOf(start, start);
  // "The week before 9 May" begins on the day that the library gives.
  return /\p{L}*week\b/iu.test(text) && isDay && !end ? { ...span, to: span.from + 7 * dayMs } : span;
}

function spanOf(first: chrono.ParsedComponents, last: chrono.ParsedComponents): TemporalIntent & { kind: 'interval' } {
  return { kind: 'interval', from: bound(first, 0), to: bound(last, 1) };
}

/** First instant of the day, month or year that is named, or of the one after it. */
function bound(components: chrono.ParsedComponents, further: 0 | 1): number {
  const year = components.get('year') ?? 1970;
  const month = (components.get('month') ?? 1) - 1;
  const day = components.get('day') ?? 1;
  if (components.isCertain('day') || components.isCertain('weekday')) return Date.UTC(year, month, day + further);
  return components.isCertain('month') ? Date.UTC(year, month + further, 1) : Date.UTC(year + further, 0, 1);
}

function without(text: string, spans: readonly { start: number; end: number }[]): string {
  let rest = '';
  let from = 0;
  for (const { start, end } of spans) {
    rest += `${text.slice(from, start)} `;
    from = end;
  }
  return rest + text.slice(from);
}

/** Years before and after `now` in which a month or day of unnamed year is looked for. */
const calendarYears = { before: 9, after: 1 };

/** Intervals around the times in which evidence is likely to speak of them, for a search among what happened then. */
export function searchIntervals(intents: readonly TemporalIntent[], now: Date): { from: number; to: number }[] {
  const thisYear = now.getUTCFullYear();
  const years = Array.from(
    { length: calendarYears.before + 1 + calendarYears.after },
    (_, index) => thisYear - calendarYears.before + index,
  );
  return intents
    .flatMap((intent) => (intent.kind === 'interval' ? [intent] : years.map((year) => calendarInterval(intent, year))))
    .map(({ from, to }) => ({ from: from - daysBefore * dayMs, to: to + daysAfter * dayMs }));
}

function calendarInterval(
  { month, day }: { month: number; day: number | undefined },
  year: number,
): { from: number; to: number } {
  const from = Date.UTC(year, month - 1, day ?? 1);
  return { from, to: day === undefined ? Date.UTC(year, month, 1) : from + dayMs };
}

/** Days by which a conversation may precede what it speaks of, and follow it, before closeness has fallen to .61. */
const daysBefore = 3;
const daysAfter = 7;

/**
 * How close something that happened in [from, to] is to the nearest of the times, 0 to 1: 1 when they touch, then
 * `exp(-(days / width)^2 / 2)`, where width is 7 days after the asked time and 3 before it. People speak of things
 * after they happened more often than before.
 */
export function temporalCloseness(intents: readonly TemporalIntent[], from: number, to: number): number {
  return intents.reduce((best, intent) => Math.max(best, closenessOf(distanceOf(intent, from, to))), 0);
}

function closenessOf(days: number): number {
  return Math.exp(-((days / (days < 0 ? daysBefore : daysAfter)) ** 2) / 2);
}

/** Days from the asked time to the event: above 0 when the event came later. */
function distanceOf(intent: TemporalIntent, from: number, to: number): number {
  if (intent.kind === 'interval') return gap(intent.from, intent.to, from, to);
  // What holds without beginning or end is dated by the side that has one.
  const year = new Date([from, to].find(Number.isFinite) ?? 0).getUTCFullYear();
  return [year - 1, year, year + 1]
    .map((candidate) => calendarInterval(intent, candidate))
    .map((interval) => gap(interval.from, interval.to, from, to))
    .reduce((nearest, days) => (Math.abs(days) < Math.abs(nearest) ? days : nearest));
}

function gap(begins: number, ends: number, from: number, to: number): number {
  if (from >= ends) return (from - ends) / dayMs;
  return to < begins ? (to - begins) / dayMs : 0;
}
