import { readTemporalIntent, searchIntervals, temporalCloseness } from './temporal-intent.js';

const now = new Date('2026-03-18T12:00:00Z'); // a Wednesday
const read = (question: string, language = 'english') => readTemporalIntent(question, language, now);
const interval = (from: string, to: string) => ({ kind: 'interval', from: Date.parse(from), to: Date.parse(to) });
const at = (time: string) => Date.parse(time);

describe('the times a question speaks of', () => {
  it.each([
    ['What happened on 3 June, 2023?', '2023-06-03', '2023-06-04'],
    ['What happened on June 3, 2023?', '2023-06-03', '2023-06-04'],
    ['What happened on 2023-06-03?', '2023-06-03', '2023-06-04'],
    ['What happened in June 2023?', '2023-06-01', '2023-07-01'],
    ['What did she say yesterday?', '2026-03-17', '2026-03-18'],
    ['What did she say 3 days ago?', '2026-03-15', '2026-03-16'],
    ['What was decided last month?', '2026-02-01', '2026-03-01'],
    ['What was decided last year?', '2025-01-01', '2026-01-01'],
    ['Where was he from 3 June 2023 to 5 June 2023?', '2023-06-03', '2023-06-06'],
    ['What broke in the week before May 9, 2024?', '2024-05-02', '2024-05-09'],
  ])('in "%s" are from %s to %s', (question, from, to) => {
    expect(read(question).intents).toEqual([interval(from, to)]);
  });

  it('are in every year when none is named', () => {
    expect(read('Where did they go in June?').intents).toEqual([{ kind: 'calendar', month: 6, day: undefined }]);
    expect(read('Who came on Sep 21st?').intents).toEqual([{ kind: 'calendar', month: 9, day: 21 }]);
  });

  it.each([
    'What was the first thing she said?',
    'Call at 10:30',
    'a second ago',
    'a long night',
    'build 20260628 of v1.6.4',
    '',
  ])('are none in "%s"', (question) => {
    expect(read(question).intents).toEqual([]);
    expect(read(question).rest).toBe(question);
  });

  it('are taken out of the words', () => {
    expect(read('What did Anna paint on 3 June, 2023 at home?').rest.replace(/\s+/g, ' ')).toBe('What did Anna paint at home?');
  });

  it('are read in the team’s language', () => {
    expect(read('Was geschah am 3. Juni 2023?', 'german').intents).toEqual([interval('2023-06-03', '2023-06-04')]);
    expect(read('Que s’est-il passé le 3 juin 2023 ?', 'french').intents).toEqual([interval('2023-06-03', '2023-06-04')]);
    expect(read('Mi történt 2023-06-03 napon?', 'hungarian').intents).toEqual([interval('2023-06-03', '2023-06-04')]);
    expect(read('Mi történt in June 2023?', 'hungarian').intents).toEqual([]);
  });

  it('are four at most, and those of an endless question are read from its beginning', () => {
    expect(read('1 June 2020, 2 June 2021, 3 June 2022, 4 June 2023 and 5 June 2024').intents.length).toBeLessThanOrEqual(4);
    const started = process.cpuUsage();
    read('3 June 2023 '.repeat(2_000));
    read('a'.repeat(100_000));
    expect(process.cpuUsage(started).user / 1_000_000).toBeLessThan(5);
  });
});

describe('closeness in time', () => {
  const june = [interval('2023-06-01', '2023-07-01')] as Parameters<typeof temporalCloseness>[0];
  const close = (time: string) => temporalCloseness(june, at(time), at(time));

  it.each([
    ['2023-06-01T00:00:00Z', 1],
    ['2023-06-30T23:59:59Z', 1],
    ['2023-07-08T00:00:00Z', Math.exp(-0.5)],
    ['2023-05-29T00:00:00Z', Math.exp(-0.5)],
    ['2024-06-15T00:00:00Z', 0],
  ])('of %s to June 2023 is %d', (time, expected) => {
    expect(close(time)).toBeCloseTo(expected, 6);
  });

  it('is 1 for whatever held at that time', () => {
    expect(temporalCloseness(june, at('2020-01-01'), at('2023-06-02'))).toBe(1);
    expect(temporalCloseness(june, -Infinity, Infinity)).toBe(1);
    expect(temporalCloseness(june, at('2023-06-30'), Infinity)).toBe(1);
  });

  it('ends where a validity ends: the end is not part of it', () => {
    expect(temporalCloseness(june, -Infinity, at('2023-05-29'))).toBeCloseTo(Math.exp(-0.5), 6);
  });

  it('to a month of no year is the same in every year', () => {
    const anyJune = [{ kind: 'calendar', month: 6, day: undefined }] as const;
    for (const time of ['1999-06-10', '2023-06-10', '2031-06-30']) expect(temporalCloseness(anyJune, at(time), at(time))).toBe(1);
    expect(temporalCloseness(anyJune, at('2023-12-10'), at('2023-12-10'))).toBeLessThan(1e-6);
    expect(temporalCloseness(anyJune, -Infinity, at('2023-06-10'))).toBe(1);
    expect(temporalCloseness([{ kind: 'calendar', month: 1, day: 1 }], at('2023-12-31'), at('2023-12-31'))).toBeGreaterThan(0.9);
  });

  it('is 0 when no time is asked', () => {
    expect(temporalCloseness([], at('2023-06-10'), at('2023-06-10'))).toBe(0);
  });
});

describe('the intervals searched', () => {
  it('begin three days before the asked time and end a week after it', () => {
    expect(searchIntervals(read('in June 2023').intents, now)).toEqual([{ from: at('2023-05-29'), to: at('2023-07-08') }]);
  });

  it('of a month without a year lie in the last nine years, this one and the next', () => {
    const intervals = searchIntervals([{ kind: 'calendar', month: 6, day: undefined }], now);
    expect(intervals).toHaveLength(11);
    expect(intervals.at(-1)).toEqual({ from: at('2027-05-29'), to: at('2027-07-08') });
  });
});
