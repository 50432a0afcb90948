import { randomUUID } from 'node:crypto';
import type { Append, NewEvent } from '../../src/event-log/event-log.js';

/** A new stream every so many events, as memories are short streams. */
export const eventsPerStream = 5;

/** Appends of one event each, in the order in which one writer sends them. */
export function singleAppends(count: number): Append[] {
  let stream = '';
  return newEvents(count).map((event, index) => {
    const revision = BigInt(index % eventsPerStream);
    if (revision === 0n) stream = `bench_loan-${randomUUID()}`;
    return { stream, events: [event], expected: revision === 0n ? 'no_stream' : revision - 1n };
  });
}

/** About 600 bytes of JSON each, most of it incompressible like ciphertext. */
export const newEvents = (count: number): NewEvent[] =>
  Array.from({ length: count }, () => ({
    id: randomUUID(),
    type: 'BookLent',
    data: JSON.stringify({ book: randomUUID(), due: '2026-05-01T00:00:00.000Z', sealed: { note: randomUUID().repeat(7) } }),
    metadata: JSON.stringify({
      $correlationId: randomUUID(),
      $causationId: randomUUID(),
      team: randomUUID(),
      schema_version: '1',
    }),
  }));

/** One after the other. */
export async function each(appends: readonly Append[], send: (append: Append) => Promise<unknown>): Promise<void> {
  for (const append of appends) await send(append);
}
