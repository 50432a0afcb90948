import { InvalidArgumentError } from 'commander';
import { expiry } from './keys.command.js';

const now = Date.UTC(2030, 0, 1);

describe('when a key expires', () => {
  it.each([
    ['90d', '2030-04-01T00:00:00.000Z'],
    ['12h', '2030-01-01T12:00:00.000Z'],
    ['2031-05-06T07:08:09+02:00', '2031-05-06T05:08:09.000Z'],
  ])('may be said as %s', (text, time) => expect(expiry(text, undefined, now).toISOString()).toBe(time));

  it.each(['', 'tomorrow', '90', '2031-05-06', '2031-13-06T07:08:09Z', '1y'])('cannot be said as %p', (text) =>
    expect(() => expiry(text, undefined, now)).toThrow(InvalidArgumentError),
  );
});
