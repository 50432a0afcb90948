import { LogMismatch } from '../../projections/engine/errors.js';
import type { Queries } from '../database/database.js';

/** What comes with owning a reactor. */
export interface Ownership {
  readonly epoch: bigint;
  /** Last position it has reacted to; -1 before the first. */
  readonly position: bigint;
}

interface ReactorRow extends Ownership {
  readonly name: string;
  readonly logId: string;
  readonly lastError: string | null;
}

export const readReactors = (queries: Queries): Promise<ReactorRow[]> =>
  queries.query<ReactorRow>(
    `SELECT name, log_id AS "logId", position, epoch, last_error AS "lastError" FROM mneme.reactors ORDER BY name`,
  );

/** Of an owner; undefined once another took over. */
export async function readPosition(queries: Queries, name: string, epoch: bigint): Promise<bigint | undefined> {
  const [row] = await queries.query<{ position: bigint }>('SELECT position FROM mneme.reactors WHERE name = $1 AND epoch = $2', [
    name,
    epoch,
  ]);
  return row?.position;
}

/** From now on nobody else can write for this reactor. What stopped it is tried again. @throws LogMismatch */
export async function takeReactor(queries: Queries, name: string, logId: string): Promise<Ownership> {
  const [row] = await queries.query<Ownership>(
    `INSERT INTO mneme.reactors AS r (name, log_id, position, epoch) VALUES ($1, $2, -1, 1)
     ON CONFLICT (name) DO UPDATE SET epoch = r.epoch + 1, last_error = NULL WHERE r.log_id = excluded.log_id
     RETURNING epoch, position`,
    [name, logId],
  );
  if (!row) throw new LogMismatch(`the reactor ${name} follows another event log than ${logId}`);
  return row;
}

/**
 * Moves the checkpoint if it still is where this owner left it; the first statement of a transaction, so that another owner
 * waits for it, or this one finds out before it writes.
 */
export async function advanceReactor(
  queries: Queries,
  name: string,
  { epoch, position }: Ownership,
  to: bigint,
): Promise<boolean> {
  const moved = await queries.execute(
    'UPDATE mneme.reactors SET position = $4 WHERE name = $1 AND epoch = $2 AND position = $3',
    [name, epoch, position, to],
  );
  return moved === 1;
}

/** Holds the reactor for the rest of the transaction. @returns false when another took over */
export async function holdReactor(queries: Queries, name: string, epoch: bigint): Promise<boolean> {
  return (
    (await queries.query('SELECT FROM mneme.reactors WHERE name = $1 AND epoch = $2 FOR UPDATE', [name, epoch])).length === 1
  );
}

export async function stopReactor(queries: Queries, name: string, epoch: bigint, reason: string): Promise<void> {
  await queries.execute('UPDATE mneme.reactors SET last_error = $3 WHERE name = $1 AND epoch = $2', [name, epoch, reason]);
}
