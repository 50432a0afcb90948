import type { Queries } from '../../src/database/database.js';
import type { BuildReference } from '../../src/operations/operation.js';
import { byIndex } from './checkpoint.js';

/** What a build is for: to take the place of the one that serves, to serve, or to serve again. */
export type BuildRole = 'ready' | 'serving' | 'standby';

/** One making of a projection's read model: a schema of its own. */
export interface Build extends BuildReference {
  readonly name: string;
  readonly schema: string;
  /** Replays with its own position; a member of the group; or stands still. */
  readonly state: 'building' | 'active' | 'stopped';
  /** One that is building serves only where nothing served before. */
  readonly role: BuildRole;
  /** Own checkpoint while building or stopped; null for members of the group. */
  readonly position: bigint | null;
  readonly lastError: string | null;
  /** The event that stopped it; null when it stands still for another reason. */
  readonly failedPosition: bigint | null;
  /** The process that replays it, or did last. */
  readonly filler: string | null;
  /** That process is taken to be alive, and at it. */
  readonly filling: boolean;
  /** It was complete at some time. */
  readonly joined: boolean;
  /** Of a stopped one: the group carries out erasures on it. */
  readonly purging: boolean;
  /** It cannot go on from where it is, because erasures were carried out without its code. */
  readonly torn: boolean;
}

/** Who replays a build, and for how long it is taken to be alive, milliseconds. */
export interface Filler {
  readonly id: string;
  readonly leaseMs: number;
}

/** All that have a schema. */
export async function readBuilds(queries: Pick<Queries, 'query'>): Promise<Build[]> {
  return queries.query<Build>(
    `SELECT name, version, build, schema_name AS schema, state, role, position, last_error AS "lastError",
       failed_position AS "failedPosition", filler, coalesce(filled_until > clock_timestamp(), false) AS filling,
       joined_at IS NOT NULL AS joined, purging, torn
     FROM mneme.projection_builds WHERE state <> 'retired' ORDER BY name, version, build`,
  );
}

export const buildsOf = async (queries: Pick<Queries, 'query'>, name: string): Promise<Build[]> =>
  (await readBuilds(queries)).filter((build) => build.name === name);

/** Every version of every projection that was built, also those that were dropped; not those that came to nothing. */
export const readVersions = (queries: Pick<Queries, 'query'>): Promise<{ name: string; version: number }[]> =>
  queries.query(`SELECT DISTINCT name, version FROM mneme.projection_builds WHERE joined_at IS NOT NULL OR state = 'retired'`);

export async function nextBuildNumber(queries: Queries, name: string, version: number): Promise<number> {
  const [row] = await queries.query<{ next: number }>(
    `SELECT coalesce(max(build), 0) + 1 AS next FROM mneme.projection_builds WHERE name = $1 AND version = $2`,
    [name, version],
  );
  return row?.next ?? 1;
}

/** @returns false when the projection already has one that is building or ready */
export async function insertBuild(
  queries: Queries,
  { name, version, build, schema, role }: Pick<Build, 'name' | 'version' | 'build' | 'schema' | 'role'>,
  { id, leaseMs }: Filler,
): Promise<boolean> {
  const inserted = await queries.execute(
    `INSERT INTO mneme.projection_builds (name, version, build, schema_name, state, role, position, filler, filled_until)
     VALUES ($1, $2, $3, $4, 'building', $5, -1, $6, clock_timestamp() + $7 * interval '1 millisecond')
     ON CONFLICT DO NOTHING`,
    [name, version, build, schema, role, id, leaseMs],
  );
  return inserted === 1;
}

/** Takes a build that stands still over, to bring it level. @returns false when another process has it, or it stopped at an event */
export async function claimBuild(queries: Queries, schema: string, { id, leaseMs }: Filler, force: boolean): Promise<boolean> {
  const claimed = await queries.execute(
    `UPDATE mneme.projection_builds
     SET filler = $2, filled_until = clock_timestamp() + $3 * interval '1 millisecond', purging = false, last_error = NULL
     WHERE schema_name = $1 AND state = 'stopped' AND failed_position IS NULL AND NOT torn
       AND ($4 OR filled_until IS NULL OR filled_until < clock_timestamp())`,
    [schema, id, leaseMs, force],
  );
  return claimed === 1;
}

/** Says that the process which replays it is alive; 0 says that it gives it up. */
export async function renewBuild(queries: Queries, schema: string, { id, leaseMs }: Filler): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds SET filled_until = clock_timestamp() + $3 * interval '1 millisecond'
     WHERE schema_name = $1 AND filler = $2`,
    [schema, id, leaseMs],
  );
}

/** Moves a build's own checkpoint. @returns false when it is not where we left it, or not ours to bring level any more */
export async function advanceBuild(queries: Queries, schema: string, filler: string, from: bigint, to: bigint): Promise<boolean> {
  const moved = await queries.query(
    `UPDATE mneme.projection_builds SET position = $3, changed_at = now()
     WHERE schema_name = $1 AND state IN ('building', 'stopped') AND failed_position IS NULL AND position = $2 AND filler = $4
     RETURNING ${byIndex}`,
    [schema, from, to, filler],
  );
  return moved.length === 1;
}

export interface Standstill {
  /** Last position in its rows. */
  readonly position: bigint;
  readonly reason: string;
  /** The event it stopped at; null where no event is at fault. */
  readonly failedPosition: bigint | null;
  /** Whether the group has carried out every erasure on it so far. */
  readonly purging: boolean;
}

/** Takes a build out of the group, or ends its replay: it keeps what it has. */
export async function stopBuild(
  queries: Queries,
  schema: string,
  { position, reason, failedPosition, purging }: Standstill,
): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds
     SET state = 'stopped', position = $2, last_error = $3, failed_position = $4, purging = $5, filled_until = NULL, changed_at = now()
     WHERE schema_name = $1`,
    [schema, position, reason, failedPosition, purging],
  );
}

/** Makes a build at the group's position a member of the group. */
export async function joinBuild(queries: Queries, schema: string): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds
     SET state = 'active', position = NULL, last_error = NULL, failed_position = NULL, purging = false, filled_until = NULL,
       joined_at = clock_timestamp(), changed_at = now()
     WHERE schema_name = $1`,
    [schema],
  );
}

export async function setRole(queries: Queries, schema: string, role: BuildRole): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds SET role = $2, changed_at = now() WHERE schema_name = $1 AND state <> 'retired'`,
    [schema, role],
  );
}

export async function retireBuild(queries: Queries, schema: string): Promise<void> {
  await queries.execute(
    `UPDATE mneme.projection_builds SET state = 'retired', filled_until = NULL, changed_at = now() WHERE schema_name = $1`,
    [schema],
  );
}

/** Forgets one that is not complete. @returns whether there was one in one of these states */
export async function deleteBuild(queries: Queries, schema: string, states: readonly Build['state'][]): Promise<boolean> {
  const deleted = await queries.execute(
    `DELETE FROM mneme.projection_builds WHERE schema_name = $1 AND state = ANY ($2) AND joined_at IS NULL`,
    [schema, states],
  );
  return deleted === 1;
}

/** Lets a build that stopped at an event go on after it. @returns whether it was stopped there */
export async function passOver(queries: Queries, schema: string, position: bigint): Promise<boolean> {
  const passed = await queries.execute(
    `UPDATE mneme.projection_builds SET failed_position = NULL, last_error = NULL, changed_at = now()
     WHERE schema_name = $1 AND state = 'stopped' AND failed_position = $2`,
    [schema, position],
  );
  return passed === 1;
}

/** The group carries out erasures on it from now on. */
export async function setPurging(queries: Queries, schema: string): Promise<void> {
  await queries.execute(`UPDATE mneme.projection_builds SET purging = true WHERE schema_name = $1 AND state = 'stopped'`, [
    schema,
  ]);
}

/** Erasures were carried out that its code could not carry out. */
export async function setTorn(queries: Queries, schema: string): Promise<void> {
  await queries.execute(`UPDATE mneme.projection_builds SET torn = true WHERE schema_name = $1`, [schema]);
}
