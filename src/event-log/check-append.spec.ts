import { randomUUID } from 'node:crypto';
import { checkAppend, isInvalidAppend, nameSizeLimit } from './check-append.js';
import { isAppendTooLarge } from './errors.js';
import { appendSizeLimit, eventSizeLimit, type Append, type NewEvent } from './event-log.js';

const event = (with_: Partial<NewEvent> = {}): NewEvent => ({
  id: randomUUID(),
  type: 'LoanExtended',
  data: '{}',
  metadata: '{}',
  ...with_,
});
const append = (with_: Partial<Append> = {}): Append => ({
  stream: 'loan-1',
  expected: 'no_stream',
  events: [event()],
  ...with_,
});
const refusal = (checked: Append): unknown => {
  try {
    checkAppend(checked);
    return undefined;
  } catch (error) {
    return error;
  }
};

describe('an append, before it is sent', () => {
  it('is measured in bytes of UTF-8 of data and metadata', () =>
    expect(
      checkAppend(append({ events: [event({ data: '"é"', metadata: '{}' }), event({ data: '"😀"', metadata: '{}' })] })),
    ).toBe(4 + 2 + 6 + 2));

  it.each([
    ['has no events', append({ events: [] })],
    ['names no stream', append({ stream: '' })],
    ['names a stream with U+0000', append({ stream: 'loan-\0' })],
    ['names a stream with half of a surrogate pair', append({ stream: 'loan-\ud83d' })],
    ['names a stream longer than the limit', append({ stream: 'é'.repeat(nameSizeLimit / 2) + 'x' })],
    ['expects a negative revision', append({ expected: -1n })],
    ['has an event without a type', append({ events: [event({ type: '' })] })],
    ['has an id that is no UUID', append({ events: [event({ id: 'one' })] })],
    [
      'has an id in upper case, which would come back in lower case',
      append({ events: [event({ id: randomUUID().toUpperCase() })] }),
    ],
    ['has data that is not JSON', append({ events: [event({ data: '{"a":}' })] })],
    ['has empty data', append({ events: [event({ data: '' })] })],
    ['has metadata that is not JSON', append({ events: [event({ metadata: 'yes' })] })],
    ['has data with U+0000', append({ events: [event({ data: '"\0"' })] })],
    ['has data with half of a surrogate pair', append({ events: [event({ data: '"\udc00"' })] })],
  ])('is refused when it %s', (_, checked) => expect(isInvalidAppend(refusal(checked))).toBe(true));

  it('is refused when two of its events have one id', () => {
    const { id } = event();
    expect(isInvalidAppend(refusal(append({ events: [event({ id }), event({ id })] })))).toBe(true);
  });

  it('never quotes content when it refuses it', () =>
    expect(String(refusal(append({ events: [event({ data: '{"secret' })] })))).not.toContain('secret'));

  it('takes an escaped U+0000, which is a text like any other', () =>
    expect(refusal(append({ events: [event({ data: '"\\u0000"' })] }))).toBeUndefined());

  it('takes an event of exactly the limit, and none that is a byte larger', () => {
    const full = JSON.stringify('x'.repeat(eventSizeLimit - 4));
    expect(refusal(append({ events: [event({ data: full })] }))).toBeUndefined();
    const tooLarge = refusal(append({ events: [event({ data: full, metadata: '{ }' })] }));
    expect(isAppendTooLarge(tooLarge)).toBe(true);
    expect(tooLarge).toMatchObject({ bytes: eventSizeLimit + 1, limit: eventSizeLimit });
  });

  it('takes events of exactly the limit of an append, and not a byte more', () => {
    const half = JSON.stringify('x'.repeat(appendSizeLimit / 2 - 4));
    expect(refusal(append({ events: [event({ data: half }), event({ data: half })] }))).toBeUndefined();
    const tooLarge = refusal(append({ events: [event({ data: half }), event({ data: half, metadata: '{ }' })] }));
    expect(isAppendTooLarge(tooLarge)).toBe(true);
    expect(tooLarge).toMatchObject({ bytes: appendSizeLimit + 1, limit: appendSizeLimit });
  });
});
