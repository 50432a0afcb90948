import type { Queries } from '../../src/database/database.js';
import type { Projection, Table } from './projection.js';
import { qualified, quoted } from './table-sql.js';

/** Rows of one transaction: it holds up the group. */
const rowsAtOnce = 1_000;

export interface VectorTarget {
  readonly projection: Projection;
  readonly schema: string;
  readonly contract: string;
}

/**
 * Gives rows of a build the vectors that were made while another build served: the embedding worker fills in those of the
 * build that serves, and keeps each in the cache. Run as the projector, with the group locked.
 *
 * @param every also where another model's vector is; and all rows at once
 * @returns whether there may be more
 */
export async function copyCachedVectors(
  queries: Queries,
  { projection, schema, contract }: VectorTarget,
  { every }: { readonly every: boolean },
): Promise<boolean> {
  let more = false;
  for (const table of projection.tables) {
    if (!table.embeds) continue;
    const copied = await queries.execute(copyStatement(schema, table, table.embeds, every), [contract]);
    more ||= !every && copied === rowsAtOnce;
  }
  return more;
}

function copyStatement(schema: string, table: Table, idColumn: string, every: boolean): string {
  const name = qualified(schema, table.name);
  const id = quoted(idColumn);
  // How filling the row went is told of rows without a vector only.
  const others = table.operational.filter((column) => column !== 'contract' && column !== 'embedding');
  const forgotten = others.map((column) => `, ${quoted(column)} = NULL`).join('');
  return `UPDATE ${name} AS t SET contract = made.contract, embedding = made.embedding${forgotten}
FROM (
  SELECT m.team_id, m.${id}, cached.contract, cached.embedding
  FROM ${name} AS m
  CROSS JOIN LATERAL (
    SELECT c.contract, c.embedding FROM mneme.vector_cache AS c
    WHERE c.team_id = m.team_id AND c.memory_id = m.${id} AND c.contract = $1 LIMIT 1
  ) AS cached
  WHERE m.embedding IS NULL${every ? ' OR m.contract IS DISTINCT FROM $1' : ` ORDER BY m.position LIMIT ${rowsAtOnce}`}
) AS made
WHERE t.team_id = made.team_id AND t.${id} = made.${id}`;
}
