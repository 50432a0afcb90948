import type { Queries } from '../../src/database/database.js';
import type { BuildReference, SwitchKind } from '../../src/operations/operation.js';
import type { SwitchRecord } from './operation-log.js';

interface SwitchRow {
  readonly id: string;
  readonly name: string;
  readonly from_version: number | null;
  readonly from_build: number | null;
  readonly to_version: number;
  readonly to_build: number;
  readonly kind: SwitchKind;
  readonly correlation_id: string;
  readonly api_key: string | null;
}

const columns = 'name, from_version, from_build, to_version, to_build, kind, correlation_id, api_key';

/** Run by the transaction that switches. */
export async function insertSwitch(
  queries: Queries,
  { id, projection, from, to, kind, correlationId, apiKey }: SwitchRecord,
): Promise<void> {
  await queries.execute(
    `INSERT INTO mneme.projection_switches (switch_id, ${columns}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, projection, from?.version ?? null, from?.build ?? null, to.version, to.build, kind, correlationId, apiKey],
  );
}

export async function findSwitch(queries: Pick<Queries, 'query'>, id: string): Promise<SwitchRecord | undefined> {
  const [row] = await queries.query<SwitchRow>(
    `SELECT switch_id AS id, ${columns} FROM mneme.projection_switches WHERE switch_id = $1`,
    [id],
  );
  return row && recordOf(row);
}

/** Those whose event may be missing in the log, in the order in which they happened. */
export async function unrecordedSwitches(queries: Pick<Queries, 'query'>): Promise<SwitchRecord[]> {
  const rows = await queries.query<SwitchRow>(
    `SELECT switch_id AS id, ${columns} FROM mneme.projection_switches WHERE NOT recorded ORDER BY number`,
  );
  return rows.map(recordOf);
}

export const markRecorded = (queries: Pick<Queries, 'query'>, id: string): Promise<unknown> =>
  queries.query('UPDATE mneme.projection_switches SET recorded = true WHERE switch_id = $1', [id]);

function recordOf({ id, name, from_version, from_build, to_version, to_build, kind, ...asked }: SwitchRow): SwitchRecord {
  const from: BuildReference | null =
    from_version === null || from_build === null ? null : { version: from_version, build: from_build };
  const to = { version: to_version, build: to_build };
  return { id, projection: name, from, to, kind, correlationId: asked.correlation_id, apiKey: asked.api_key };
}
