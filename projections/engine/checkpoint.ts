import type { Queries } from '../../src/database/database.js';

/** The checkpoint that all healthy builds share. */
export interface GroupRow {
  readonly logId: string;
  /** Last position applied; -1 before the first. */
  readonly position: bigint;
  readonly epoch: bigint;
  readonly generation: bigint;
}

const groupColumns = 'log_id AS "logId", position, epoch, generation';

export async function readGroup(queries: Pick<Queries, 'query'>): Promise<GroupRow | undefined> {
  const [row] = await queries.query<GroupRow>(`SELECT ${groupColumns} FROM mneme.projection_group`);
  return row;
}

export async function createGroup(queries: Queries, logId: string): Promise<void> {
  await queries.execute(
    `INSERT INTO mneme.projection_group (log_id, position, epoch) VALUES ($1, -1, 0) ON CONFLICT DO NOTHING`,
    [logId],
  );
}

/** Until the transaction ends, no batch is committed, no build joins or switches and no owner changes. */
export async function lockGroup(queries: Queries): Promise<GroupRow> {
  const [row] = await queries.query<GroupRow>(`SELECT ${groupColumns} FROM mneme.projection_group FOR UPDATE`);
  if (!row) throw new Error('the projection group has no row: start the engine first');
  return row;
}

/**
 * @param leaseMs how long the new owner is taken to be alive; 0 asks nobody whether the old one is
 * @returns the new owner's epoch: who held an earlier one cannot write any more; undefined while the old owner is alive
 */
export async function takeEpoch(queries: Queries, leaseMs: number): Promise<bigint | undefined> {
  const [row] = await queries.query<{ epoch: bigint }>(
    `UPDATE mneme.projection_group SET epoch = epoch + 1, lease_until = clock_timestamp() + $1 * interval '1 millisecond'
     WHERE $1 = 0 OR lease_until < clock_timestamp() RETURNING epoch`,
    [leaseMs],
  );
  return row?.epoch;
}

/** Says that the owner is alive for so long from now on; 0 says that it has ended. @returns false when another took over */
export async function renewLease(queries: Queries, epoch: bigint, leaseMs: number): Promise<boolean> {
  const renewed = await queries.execute(
    `UPDATE mneme.projection_group SET lease_until = clock_timestamp() + $2 * interval '1 millisecond' WHERE epoch = $1`,
    [epoch, leaseMs],
  );
  return renewed === 1;
}

/**
 * For the rest of the transaction. A batch names hundreds of rows by key, and a planner that takes pages for four times
 * dearer at random reads a middling table from end to end for them (500 of 20,000 rows: 8 ms, by index 2 ms).
 */
export const byIndex = `set_config('enable_seqscan', 'off', true)`;

/**
 * Moves the checkpoint, if it still is where this owner left it. The first statement of a batch's transaction, so that
 * another owner waits for the batch, or this one finds out before it does any work.
 *
 * @returns the generation of the builds; undefined when another owner took over or a commit of unknown outcome succeeded
 */
export async function advanceGroup(
  queries: Queries,
  { logId, epoch, position }: GroupRow,
  to: bigint,
): Promise<bigint | undefined> {
  const [row] = await queries.query<{ generation: bigint }>(
    `UPDATE mneme.projection_group SET position = $1 WHERE position = $2 AND epoch = $3 AND log_id = $4
     RETURNING generation, ${byIndex}`,
    [to, position, epoch, logId],
  );
  return row?.generation;
}

/** Tells the group's owner, in whatever process, to look at the builds again. */
export async function announceBuilds(queries: Queries): Promise<void> {
  await queries.execute('UPDATE mneme.projection_group SET generation = generation + 1');
}
