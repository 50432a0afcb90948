import { clockSkew, newestEvent } from './clock.check.js';

describe('clocks', () => {
  it.each([
    ['agree', 1_000, 0, 'ok'],
    ['agree as far as can be told', 5_000, 4_000, 'ok'],
    ['differ noticeably', 5_000, 100, 'warning'],
    ['differ noticeably the other way', -5_000, 100, 'warning'],
    ['differ harmfully', 120_000, 100, 'failed'],
    ['differ harmfully the other way', -120_000, 100, 'failed'],
  ] as const)('that %s', (_, apart, uncertainty, severity) => {
    const ours = Date.parse('2026-06-01T12:00:00Z');
    expect(clockSkew('the database', { theirs: ours + apart, ours, uncertainty }).severity).toBe(severity);
  });

  it('are told by how much they differ, and which way', () => {
    expect(clockSkew('the database', { theirs: 7_000, ours: 0, uncertainty: 500 }).message).toBe(
      'the clock of the database is 6.5 s ahead of this one',
    );
    expect(clockSkew('the service', { theirs: 0, ours: 90_000, uncertainty: 0 }).message).toBe(
      'the clock of the service is 90.0 s behind this one',
    );
  });

  it.each([
    [-1_000_000, 'ok'],
    [1_000, 'ok'],
    [10_000, 'warning'],
    [3_600_000, 'failed'],
  ] as const)('of a log whose last event is %i ms of the future', (ahead, severity) => {
    const now = Date.parse('2026-06-01T12:00:00Z');
    expect(newestEvent(new Date(now + ahead), now).severity).toBe(severity);
  });
});
