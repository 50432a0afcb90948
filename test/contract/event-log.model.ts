import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import type { Append, NewEvent } from '../../src/event-log/event-log.js';

/** One append, relative to what the log holds when its turn comes. */
export type Step = {
  readonly stream: number;
  readonly count: number;
  /** fresh: at the stream's end; off: `by` beside it; again: an earlier append; longer: an earlier append and one event more. */
  readonly kind: 'fresh' | 'off' | 'again' | 'longer';
  readonly by: number;
  readonly earlier: number;
};

export const steps = fc.array(
  fc.record({
    stream: fc.nat(2),
    count: fc.integer({ min: 1, max: 3 }),
    kind: fc.constantFrom<Step['kind'][]>('fresh', 'fresh', 'off', 'again', 'longer'),
    by: fc.constantFrom(-2, -1, 1, 2),
    earlier: fc.nat(),
  }),
  { minLength: 1, maxLength: 15 },
);

/** A log in memory that does what the port says, and no more. */
export class LogModel {
  readonly order: { name: string; id: string }[] = [];
  private readonly streams = new Map<string, string[]>();
  private readonly accepted: Append[] = [];

  constructor(readonly prefix: string) {}

  get streamNames(): string[] {
    return [...this.streams.keys()];
  }

  idsOf(stream: string): string[] {
    return this.streams.get(stream) ?? [];
  }

  appendOf({ stream, count, kind, by, earlier }: Step): Append {
    const name = `${this.prefix}loan-${stream}`;
    const end = BigInt(this.idsOf(name).length) - 1n;
    const repeated = this.accepted[earlier % Math.max(this.accepted.length, 1)];
    const fresh: Append = { stream: name, events: newEvents(count), expected: revision(end) };
    switch (kind) {
      case 'fresh':
        return fresh;
      case 'off':
        return { ...fresh, expected: revision(end + BigInt(by)) };
      case 'again':
        return repeated ?? fresh;
      case 'longer':
        return repeated ? { ...repeated, events: [...repeated.events, ...newEvents(1)] } : fresh;
      default:
        return kind satisfies never;
    }
  }

  /** The revision it results in, or the actual one when the expected is wrong. */
  apply(append: Append): bigint | { wrong: bigint | 'no_stream' } {
    const stored = this.idsOf(append.stream);
    const ids = append.events.map(({ id }) => id);
    const from = append.expected === 'no_stream' ? 0 : Number(append.expected) + 1;
    if (from === stored.length) {
      this.streams.set(append.stream, [...stored, ...ids]);
      this.order.push(...ids.map((id) => ({ name: append.stream, id })));
      this.accepted.push(append);
      return BigInt(stored.length + ids.length) - 1n;
    }
    if (ids.every((id, index) => stored[from + index] === id)) return BigInt(from + ids.length) - 1n;
    return { wrong: revision(BigInt(stored.length) - 1n) };
  }
}

const revision = (end: bigint): bigint | 'no_stream' => (end < 0n ? 'no_stream' : end);

const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({ id: randomUUID(), type: 'LoanExtended', data: '{}', metadata: '{}' }));
