import type { Queries } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { applyEvents, type Target } from './apply.js';
import type { Delivered } from './deliveries.js';
import { describeFailure, isPassing } from './failures.js';

/** The event that a projection cannot apply, and what may be said of why. */
export interface Poison {
  readonly position: bigint;
  readonly description: string;
}

/**
 * Applies a batch to one projection up to the event it cannot apply, halving the batch to find that event. Savepoints keep
 * the other projections' writes of the transaction.
 *
 * @returns undefined when everything was applied
 * @throws passing trouble, such as a lost connection
 */
export async function applyUntilPoison(
  queries: Queries,
  target: Target,
  { events, undecodable }: Delivered,
): Promise<Poison | undefined> {
  const failed = await applyHalves(queries, target, events);
  if (failed) return { position: failed.event.position, description: describeFailure(failed.error, failed.event) };
  if (!undecodable) return undefined;
  return { position: undecodable.event.position, description: describeFailure(undecodable.error, undecodable.event) };
}

interface Failed {
  readonly event: { readonly position: bigint; readonly type: string };
  readonly error: unknown;
}

async function applyHalves(queries: Queries, target: Target, events: readonly RecordedEvent[]): Promise<Failed | undefined> {
  const attempt = await tryEvents(queries, target, events);
  if (attempt.applied) return undefined;
  const [only] = events;
  if (only && events.length === 1) return { event: { position: only.position, type: only.data.type }, error: attempt.error };
  const middle = Math.ceil(events.length / 2);
  return (
    (await applyHalves(queries, target, events.slice(0, middle))) ?? (await applyHalves(queries, target, events.slice(middle)))
  );
}

async function tryEvents(
  queries: Queries,
  target: Target,
  events: readonly RecordedEvent[],
): Promise<{ applied: true } | { applied: false; error: unknown }> {
  await queries.execute('SAVEPOINT part');
  try {
    await applyEvents(queries, target, events);
  } catch (error) {
    if (isPassing(error)) throw error;
    await queries.execute('ROLLBACK TO SAVEPOINT part; RELEASE SAVEPOINT part');
    return { applied: false, error };
  }
  await queries.execute('RELEASE SAVEPOINT part');
  return { applied: true };
}
