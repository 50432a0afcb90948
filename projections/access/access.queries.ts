import { defaultSettings, type Settings } from '../../src/access/settings.js';
import type { Queries } from '../../src/database/database.js';
import type { ApiKeyRow, ProfileRow, TeamRow } from './access.projection.js';

/** A part of a list in log order: up to `limit` rows after a position. */
export interface Slice {
  readonly after: bigint | undefined;
  readonly limit: number;
}

const start = -1n;

/**
 * All columns, not by name: while a new version of the read model is built, the one before serves, and lacks the settings
 * that came since. Those have their defaults then.
 */
export async function settingsOfTeam(queries: Pick<Queries, 'query'>, team: string): Promise<Settings | undefined> {
  const [row] = await queries.query<Partial<TeamRow>>(`SELECT * FROM mneme_read.teams WHERE team_id = $1`, [team]);
  return row && settingsOf(row);
}

export async function teamExists(queries: Queries, team: string): Promise<boolean> {
  return (await queries.query(`SELECT FROM mneme_read.teams WHERE team_id = $1`, [team])).length > 0;
}

function settingsOf(row: Partial<TeamRow>): Settings {
  const { review, language, recording, execution_retention_days } = { ...defaultSettings, ...row };
  return { review, language: language as Settings['language'], recording, execution_retention_days };
}

/** All columns, for the same reason. @param team that team only; undefined for all, which only the system role sees */
export async function teamsAfter(
  queries: Queries,
  team: string | undefined,
  { after = start, limit }: Slice,
): Promise<TeamRow[]> {
  const rows = await queries.query<TeamRow>(
    `SELECT * FROM mneme_read.teams
     WHERE ($1::uuid IS NULL OR team_id = $1) AND created_position > $2 ORDER BY created_position LIMIT $3`,
    [team ?? null, after, limit],
  );
  return rows.map((row) => ({ ...row, ...settingsOf(row) }));
}

export function profilesAfter(queries: Queries, team: string, { after = start, limit }: Slice): Promise<ProfileRow[]> {
  return queries.query<ProfileRow>(
    `SELECT team_id, profile_id, name, status, created_at, created_position, revision FROM mneme_read.profiles
     WHERE team_id = $1 AND created_position > $2 ORDER BY created_position LIMIT $3`,
    [team, after, limit],
  );
}

/** @param team UUID; `systemTeamId` for operator keys, which only the system role sees */
export function apiKeysAfter(queries: Queries, team: string, { after = start, limit }: Slice): Promise<ApiKeyRow[]> {
  return queries.query<ApiKeyRow>(
    `SELECT team_id, key_id, profile_id, name, scopes, expires_at, revoked, created_at, created_position, revision
     FROM mneme_read.api_keys
     WHERE team_id = $1 AND created_position > $2 ORDER BY created_position LIMIT $3`,
    [team, after, limit],
  );
}
