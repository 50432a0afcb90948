import type { Language, Settings } from '../../src/access/settings.js';
import type { Queries } from '../../src/database/database.js';

export async function settingsOfTeam(queries: Queries, team: string): Promise<Settings | undefined> {
  const [row] = await queries.query<{ review: boolean; language: Language; recording: boolean }>(
    `SELECT review, language, recording FROM mneme_read.teams WHERE team_id = $1`,
    [team],
  );
  return row;
}
