import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import { DataKeys } from '../encryption/data-keys.js';
import { systemTeam, systemTeamId, tableTeamId } from '../event-log/stream-name.js';
import { apiKeyHash, newApiKey, pepperRef } from './api-key.js';
import { isScope, type Scope } from './scopes.js';

/** A key that may be used, as the read model describes it. */
export interface UsableKey {
  /** UUID, or `system`. */
  readonly team: string;
  readonly keyId: string;
  readonly profile: string | undefined;
  readonly scopes: readonly Scope[];
}

/** The key of a hash ($1), if it may be used at a time ($2). Every request asks this first. */
export const usableKey = `
  SELECT k.team_id, k.key_id, k.profile_id, k.scopes
  FROM mneme.api_key_hashes h
  JOIN mneme_read.api_keys k ON k.team_id = h.team_id AND k.key_id = h.key_id
  LEFT JOIN mneme_read.profiles p ON p.team_id = k.team_id AND p.profile_id = k.profile_id
  WHERE h.key_hash = $1 AND NOT k.revoked AND (k.expires_at IS NULL OR k.expires_at > $2)
    AND (k.profile_id IS NULL OR p.status = 'active')`;

/** The hashes of API keys, which stand in no event. */
@Injectable()
export class ApiKeyHashes {
  private pepper: Promise<Buffer> | undefined;

  constructor(
    private readonly database: Database,
    private readonly keys: DataKeys,
  ) {}

  /**
   * Makes the secret of a key that has none yet.
   *
   * @returns undefined when the key has one: only its hash is left, so nobody can be told
   */
  async mint(team: string, keyId: string): Promise<string | undefined> {
    const key = newApiKey();
    const hash = apiKeyHash(await this.loadPepper(), key);
    const made = await this.database.as('mneme_system', (queries) =>
      queries.execute(
        `INSERT INTO mneme.api_key_hashes (team_id, key_id, key_hash) VALUES ($1, $2, $3) ON CONFLICT (team_id, key_id) DO NOTHING`,
        [tableTeamId(team), keyId, hash],
      ),
    );
    return made === 1 ? key : undefined;
  }

  async forget(team: string, keyId: string): Promise<void> {
    await this.database.as('mneme_system', (queries) =>
      queries.execute(`DELETE FROM mneme.api_key_hashes WHERE team_id = $1 AND key_id = $2`, [tableTeamId(team), keyId]),
    );
  }

  /** The key, unless it is unknown, revoked, expired at `now`, or of a profile that is not active. */
  async find(key: string, now: Date): Promise<UsableKey | undefined> {
    const hash = apiKeyHash(await this.loadPepper(), key);
    const [row] = await this.database.as('mneme_system', (queries) =>
      queries.query<{ team_id: string; key_id: string; profile_id: string | null; scopes: string }>(usableKey, [hash, now]),
    );
    if (!row) return undefined;
    return {
      team: row.team_id === systemTeamId ? systemTeam : row.team_id,
      keyId: row.key_id,
      profile: row.profile_id ?? undefined,
      scopes: row.scopes.split(' ').filter(isScope),
    };
  }

  /** Kept for the life of the process: it is the installation's, nothing erases it, and every request needs it. */
  private loadPepper(): Promise<Buffer> {
    this.pepper ??= this.keys.derived(pepperRef, 'api_key_pepper').catch((error: unknown) => {
      this.pepper = undefined;
      throw error;
    });
    return this.pepper;
  }
}
