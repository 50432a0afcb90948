import { randomUUID } from 'node:crypto';
import { isWrongExpectedRevision } from '../../src/event-log/errors.js';
import type { AppendOutcome, EventLog, NewEvent, StoredEvent } from '../../src/event-log/event-log.js';

/** The log of a contract's run, and where the test at hand writes. */
export interface LogUnderTest {
  readonly log: EventLog;
  /** Of this test alone, because the log may be shared with others. */
  readonly prefix: string;
  readonly stream: string;
  /** Head of the log when the test began. */
  readonly start: bigint;
  /** The events of this test. */
  ours(): Promise<StoredEvent[]>;
}

/** @param data a JSON text, or a value to make one from */
export const newEvent = (data: unknown = { book: 'moby-dick' }): NewEvent => ({
  id: randomUUID(),
  type: 'BookLent',
  data: typeof data === 'string' ? data : JSON.stringify(data),
  metadata: '{"$correlationId":"c-1"}',
});

export const newEvents = (count: number): NewEvent[] => Array.from({ length: count }, (_, index) => newEvent({ index }));

export const ids = (events: readonly NewEvent[]): string[] => events.map(({ id }) => id);

/** The part of a stored event that its writer gave. */
export const given = ({ id, type, data, metadata }: NewEvent): NewEvent => ({ id, type, data, metadata });

export async function all<T>(iterable: AsyncIterable<T>): Promise<T[]> {
  const items: T[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}

/** The outcome in a shape that tests compare: the revision, the actual revision, or the error's code. */
export function told(outcome: AppendOutcome): unknown {
  if ('appended' in outcome) return outcome.appended.revision;
  if (isWrongExpectedRevision(outcome.error)) return { wrong: outcome.error.actual };
  return 'code' in outcome.error ? outcome.error.code : outcome.error;
}

export function expectGrowing(events: readonly StoredEvent[]): void {
  for (const [index, { position }] of events.entries()) {
    const before = events[index - 1];
    if (before) expect(position).toBeGreaterThan(before.position);
  }
}
