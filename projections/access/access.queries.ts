import type { Language, Settings } from '../../src/access/settings.js';
import type { Queries } from '../../src/database/database.js';
import type { ApiKeyRow, ProfileRow, TeamRow } from './access.projection.js';

/** A part of a list in log order: up to `limit` rows after a position. */
export interface Slice {
  readonly after: bigint | undefined;
  readonly limit: number;
}

const start = -1n;

export async function settingsOfTeam(queries: Queries, team: string): Promise<Settings | undefined> {
  const [row] = await queries.query<{ review: boolean; language: Language; recording: boolean }>(
    `SELECT review, language, recording FROM mneme_read.teams WHERE team_id = $1`,
    [team],
  );
  return row;
}

export async function teamExists(queries: Queries, team: string): Promise<boolean> {
  return (await queries.query(`SELECT FROM mneme_read.teams WHERE team_id = $1`, [team])).length > 0;
}

/** @param team that team only; undefined for all, which only the system role sees */
export function teamsAfter(queries: Queries, team: string | undefined, { after = start, limit }: Slice): Promise<TeamRow[]> {
  return queries.query<TeamRow>(
    `SELECT team_id, name, review, language, recording, created_at, created_position, revision FROM mneme_read.teams
     WHERE ($1::uuid IS NULL OR team_id = $1) AND created_position > $2 ORDER BY created_position LIMIT $3`,
    [team ?? null, after, limit],
  );
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
