import { createGroup, lockGroup, readGroup, takeEpoch, type GroupRow } from './checkpoint.js';
import { LogMismatch } from './errors.js';
import { fillerOf, type EngineSettings } from './options.js';
import { settle, type Settled } from './settle.js';

/** @throws LogMismatch when the checkpoints belong to another log, or lie beyond its head */
export async function checkLog({ database, log, logId }: EngineSettings): Promise<void> {
  const group = await readGroup(database);
  if (!group) return;
  checkLogId(group, logId);
  // The head after the position: the other way round, a running owner could move the position past a head read before.
  const head = await log.head();
  if (group.position > head)
    throw new LogMismatch(
      `the read models stand at position ${group.position}, but the event log ends at ${head}: it was restored to an earlier moment. ` +
        'Restore the database to that moment too, or drop the read models so that they are built anew',
    );
}

function checkLogId(group: GroupRow, logId: string): void {
  if (group.logId !== logId)
    throw new LogMismatch(
      `the read models follow the event log ${group.logId}, but this one is ${logId}: connect the database that belongs to the log, ` +
        'or drop the read models so that they are built anew',
    );
}

/** What comes with owning the group. */
export interface Ownership extends Settled {
  readonly epoch: bigint;
}

/**
 * Takes the group over and makes what is missing, in one transaction: of two processes that start at once, the second waits.
 *
 * @param id of this process, as one that replays builds
 * @returns undefined when another owner is alive
 */
export async function takeOver(settings: EngineSettings, id: string): Promise<Ownership | undefined> {
  const { database, logId, leaseMs } = settings;
  return database.asOwner(async (queries) => {
    await createGroup(queries, logId);
    const group = await lockGroup(queries);
    checkLogId(group, logId);
    const epoch = await takeEpoch(queries, leaseMs);
    if (epoch === undefined) return undefined;
    const settling = { filler: fillerOf(settings, id), starting: true, alone: leaseMs === 0 };
    return { epoch, ...(await settle(queries, settings, group, settling)) };
  });
}
