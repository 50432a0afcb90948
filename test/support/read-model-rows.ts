import { allProjections, type Infrastructure } from '../../src/infrastructure.js';

/**
 * Every row of every active read model, current and historical, by table. Of a vector: that it is there, for which content
 * and contract, since the numbers are the model's and not the log's.
 */
export async function readModelRows({ database }: Pick<Infrastructure, 'database'>): Promise<Record<string, string[]>> {
  const dump: Record<string, string[]> = {};
  for (const { tables } of allProjections) {
    for (const { name, history, embeds } of tables) {
      const columns = embeds
        ? `to_jsonb(t) - 'embedding' || jsonb_build_object('embedded', t.embedding IS NOT NULL)`
        : 'to_jsonb(t)';
      for (const view of history ? [name, `${name}_history`] : [name]) {
        const found = await database.query<{ row: string }>(
          `SELECT (${columns})::text AS row FROM mneme_read."${view}" AS t ORDER BY 1`,
        );
        dump[view] = found.map(({ row }) => row);
      }
    }
  }
  return dump;
}

/** Rebuilds every read model, one after the other. */
export async function rebuildAll({ engine }: Pick<Infrastructure, 'engine'>): Promise<void> {
  for (const { name } of allProjections) await engine.rebuild(name);
}
