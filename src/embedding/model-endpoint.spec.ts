import { retryAfterMs } from './model-endpoint.js';

describe('how long an endpoint asks to be left alone', () => {
  const now = Date.parse('2026-06-01T12:00:00Z');

  it.each<[string | null, number | undefined]>([
    ['5', 5_000],
    [' 0 ', 0],
    ['Mon, 01 Jun 2026 12:00:30 GMT', 30_000],
    ['Mon, 01 Jun 2026 11:00:00 GMT', 0],
    ['86400', 3_600_000],
    ['999999999', 3_600_000],
    [null, undefined],
    ['', undefined],
    ['soon', undefined],
    ['-5', undefined],
    ['1.5', undefined],
    ['1e3', undefined],
    ['99999999999999999999', undefined],
    ['Someday, GMT', undefined],
  ])('is read from %j as %j ms', (header, milliseconds) => expect(retryAfterMs(header, now)).toBe(milliseconds));
});
