import type { Queries } from '../../src/database/database.js';

/** The checkpoint that all healthy projections share. */
export interface GroupRow {
  readonly logId: string;
  /** Last position applied; -1 before the first. */
  readonly position: bigint;
  readonly epoch: bigint;
  readonly generation: bigint;
}

/** One making of a projection's read model: a schema of its own. */
export interface Build {
  readonly name: string;
  readonly version: number;
  readonly build: number;
  readonly schema: string;
  readonly state: 'building' | 'active' | 'stopped';
  /** Own checkpoint while building or stopped; null for members of the group. */
  readonly position: bigint | null;
  readonly lastError: string | null;
  /** The event that stopped it; null when it stands still for another reason. */
  readonly failedPosition: bigint | null;
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

/** Until the transaction ends, no batch is committed, no build joins and no owner changes. */
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
const byIndex = `set_config('enable_seqscan', 'off', true)`;

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

/** All that serve or are being built. */
export async function readBuilds(queries: Pick<Queries, 'query'>): Promise<Build[]> {
  return queries.query<Build>(
    `SELECT name, version, build, schema_name AS schema, state, position, last_error AS "lastError", failed_position AS "failedPosition"
     FROM mneme.projection_builds WHERE state <> 'retired' ORDER BY name, version, build`,
  );
}

export async function nextBuildNumber(queries: Queries, name: string, version: number): Promise<number> {
  const [row] = await queries.query<{ next: number }>(
    `SELECT coalesce(max(build), 0) + 1 AS next FROM mneme.projection_builds WHERE name = $1 AND version = $2`,
    [name, version],
  );
  return row?.next ?? 1;
}

/** @returns false when the projection already has one in that state */
export async function insertBuild(
  queries: Queries,
  { name, version, build, schema, state, position }: Omit<Build, 'lastError' | 'failedPosition'>,
): Promise<boolean> {
  const inserted = await queries.execute(
    `INSERT INTO mneme.projection_builds (name, version, build, schema_name, state, position) VALUES ($1, $2, $3, $4, $5, $6)
     ON CONFLICT DO NOTHING`,
    [name, version, build, schema, state, position],
  );
  return inserted === 1;
}

/** Moves a building build's own checkpoint. @returns false when it is not where we left it, or not ours to build any more */
export async function advanceBuild(queries: Queries, schema: string, from: bigint, to: bigint): Promise<boolean> {
  const moved = await queries.query(
    `UPDATE mneme.projection_builds SET position = $3, changed_at = now()
     WHERE schema_name = $1 AND state = 'building' AND position = $2
     RETURNING ${byIndex}`,
    [schema, from, to],
  );
  return moved.length === 1;
}

/** Takes a build out of the group, or ends its building: it serves what it has. `failure` is missing where no event is at fault. */
export async function stopBuild(
  queries: Queries,
  schema: string,
  position: bigint,
  reason: string,
  failedPosition: bigint | null,
): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds SET state = 'stopped', position = $2, last_error = $3, failed_position = $4, changed_at = now()
     WHERE schema_name = $1`,
    [schema, position, reason, failedPosition],
  );
}

/** Makes a build at the group's position a member of the group, in place of the one that served. */
export async function activateBuild(queries: Queries, { name, schema }: Pick<Build, 'name' | 'schema'>): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds SET state = 'retired', changed_at = now() WHERE name = $1 AND state IN ('active', 'stopped')`,
    [name],
  );
  await queries.execute(
    `UPDATE mneme.projection_builds SET state = 'active', position = NULL, last_error = NULL, failed_position = NULL, changed_at = now()
     WHERE schema_name = $1`,
    [schema],
  );
}

/** Says why the build that was to replace this one is not there. */
export async function noteFailedReplacement(queries: Queries, name: string, reason: string): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds SET last_error = $2, changed_at = now()
     WHERE name = $1 AND state = 'stopped' AND failed_position IS NULL`,
    [name, reason],
  );
}

/** @returns whether there was one that was still building */
export async function deleteBuilding(queries: Queries, schema: string): Promise<boolean> {
  return (
    (await queries.execute(`DELETE FROM mneme.projection_builds WHERE schema_name = $1 AND state = 'building'`, [schema])) === 1
  );
}
