import type { Queries } from '../../src/database/database.js';

/** The streams that hold events about a memory; none for a memory that the team does not have. */
export async function streamsOf(queries: Queries, { team, memory }: { team: string; memory: string }): Promise<string[]> {
  const rows = await queries.query<{ stream: string }>(
    'SELECT DISTINCT stream FROM mneme_read.event_refs WHERE team_id = $1 AND memory_id = $2 ORDER BY stream',
    [team, memory],
  );
  return rows.map(({ stream }) => stream);
}
