import { hkdfSync, randomBytes } from 'node:crypto';
import type { Database, Queries } from '../database/database.js';
import { systemTeam, systemTeamId, tableTeamId } from '../event-log/stream-name.js';
import { isUuid } from '../uuid.js';
import { keyBytes } from './aes-gcm.js';
import { KeyErased, KeyUnavailable, MasterKeyMismatch } from './errors.js';
import type { MasterKey } from './master-key.js';

export interface KeyRef {
  /** UUID, or `system`. */
  readonly team: string;
  /** Id of a memory, or the name of a secret: letters, digits and `_.:-`, at most 100. */
  readonly owner: string;
}

export type KeyState =
  { readonly state: 'active'; readonly key: Buffer } | { readonly state: 'erased' } | { readonly state: 'never_provisioned' };

/** Unwrapped keys of one call. Let go of it with the request: keys are not cached, so that a destroyed one is gone at once. */
export class KeyRing {
  private readonly states: ReadonlyMap<string, KeyState>;

  constructor(entries: Iterable<readonly [KeyRef, KeyState]>) {
    this.states = new Map([...entries].map(([ref, state]) => [keyAad(ref), state]));
  }

  get(ref: KeyRef): KeyState {
    return this.states.get(keyAad(ref)) ?? { state: 'never_provisioned' };
  }
}

/** What the codec needs of the data keys. */
export type KeySource = Pick<DataKeys, 'provision' | 'fetch'>;

export type KeyPurpose = 'identity' | 'command' | 'api_key_pepper' | 'vector_cache' | 'cursor';

interface KeyRow {
  team_id: string;
  owner: string;
  state: 'active' | 'erased';
  wrapped_key: Buffer | null;
}

/** Made at the first start: whether it unwraps tells whether the master key is the right one. */
export const masterKeyCheck: KeyRef = { team: 'system', owner: 'check' };

/**
 * One AES-256 key per memory, wrapped by the master key, kept in PostgreSQL. A key goes from never provisioned to active
 * to erased, or straight to erased, and never back: destroying it is what erases a memory's content.
 */
export class DataKeys {
  constructor(
    private readonly database: Database,
    private readonly masterKey: MasterKey,
  ) {}

  /**
   * Makes keys for the owners that never had one and returns the keys of all of them; none is made when one is refused.
   *
   * @throws KeyErased for an owner whose key was destroyed; KeyUnavailable; DatabaseUnavailable
   */
  async provision(team: string, owners: readonly string[]): Promise<KeyRing> {
    // Sorted, because two commands that insert the same owners in different orders would wait for each other for ever.
    const distinct = [...new Set(owners)].sort();
    if (distinct.length === 0) return new KeyRing([]);
    const teamId = checkedTeamId(team);
    const wrapped = distinct.map((owner) => this.masterKey.wrap(randomBytes(keyBytes), keyAad(checkedOwner({ team, owner }))));
    return this.database.as('mneme_system', async (queries) => {
      const rows = await insertMissing(queries, teamId, distinct, wrapped);
      const erased = rows.find(({ state }) => state === 'erased');
      if (erased) throw new KeyErased(erased.owner);
      return this.ring(rows);
    });
  }

  /** The keys of many owners in one query. @throws KeyUnavailable when one cannot be unwrapped; DatabaseUnavailable */
  async fetch(refs: readonly KeyRef[]): Promise<KeyRing> {
    const distinct = [...new Map(refs.map((ref) => [keyAad(ref), ref])).values()];
    if (distinct.length === 0) return new KeyRing([]);
    const rows = await this.database.as('mneme_system', (queries) =>
      queries.query<KeyRow>(wantedKeys, [distinct.map(({ team }) => checkedTeamId(team)), distinct.map(({ owner }) => owner)]),
    );
    return this.ring(rows);
  }

  /** Destroys the key for ever, or bars the owner from ever getting one. @returns whether it was not erased before */
  async destroy(team: string, owner: string): Promise<boolean> {
    const changed = await this.database.as('mneme_system', (queries) =>
      queries.execute(
        `INSERT INTO mneme.data_keys AS k (team_id, owner, state, erased_at) VALUES ($1, $2, 'erased', clock_timestamp())
         ON CONFLICT (team_id, owner) DO UPDATE SET state = 'erased', wrapped_key = NULL, erased_at = clock_timestamp()
         WHERE k.state = 'active'`,
        [checkedTeamId(team), checkedOwner({ team, owner }).owner],
      ),
    );
    return changed === 1;
  }

  /**
   * A 32-byte secret for one purpose, from the owner's data key, which is made when missing (HKDF-SHA-256, RFC 5869).
   *
   * @throws KeyErased, KeyUnavailable, DatabaseUnavailable
   */
  async derived(ref: KeyRef, purpose: KeyPurpose): Promise<Buffer> {
    const state = (await this.provision(ref.team, [ref.owner])).get(ref);
    if (state.state !== 'active') throw new KeyUnavailable();
    return Buffer.from(hkdfSync('sha256', state.key, Buffer.alloc(0), `mneme ${purpose}`, keyBytes));
  }

  /**
   * For start-up: a key known to exist must unwrap. The first start makes it.
   *
   * @throws MasterKeyMismatch when the data keys were wrapped by another master key; DatabaseUnavailable
   */
  async checkMasterKey(): Promise<void> {
    try {
      await this.provision(masterKeyCheck.team, [masterKeyCheck.owner]);
    } catch (error) {
      throw error instanceof KeyUnavailable ? new MasterKeyMismatch() : error;
    }
  }

  private ring(rows: readonly KeyRow[]): KeyRing {
    return new KeyRing(
      rows.map(({ team_id, owner, wrapped_key }) => {
        const ref = { team: team_id === systemTeamId ? 'system' : team_id, owner };
        if (wrapped_key === null) return [ref, { state: 'erased' }];
        return [ref, { state: 'active', key: this.masterKey.unwrap(wrapped_key, keyAad(ref)) }];
      }),
    );
  }
}

/** Keys of many owners, of several teams; exported for the test of its plan. */
export const wantedKeys = `
  SELECT k.team_id, k.owner, k.state, k.wrapped_key
  FROM unnest($1::uuid[], $2::text[]) AS wanted(team_id, owner)
  JOIN mneme.data_keys k ON k.team_id = wanted.team_id AND k.owner = wanted.owner`;

async function insertMissing(queries: Queries, teamId: string, owners: string[], wrapped: Buffer[]): Promise<KeyRow[]> {
  const rows = await queries.query<KeyRow>(
    `WITH made AS (
       INSERT INTO mneme.data_keys (team_id, owner, state, wrapped_key)
       SELECT $1, made.owner, 'active', made.wrapped_key FROM unnest($2::text[], $3::bytea[]) AS made(owner, wrapped_key)
       ON CONFLICT (team_id, owner) DO NOTHING
       RETURNING team_id, owner, state, wrapped_key
     )
     SELECT team_id, owner, state, wrapped_key FROM made
     UNION ALL
     SELECT team_id, owner, state, wrapped_key FROM mneme.data_keys WHERE team_id = $1 AND owner = ANY($2)`,
    [teamId, owners, wrapped],
  );
  const missing = owners.filter((owner) => !rows.some((row) => row.owner === owner));
  if (missing.length === 0) return rows;
  // Rows that another command inserted while our statement ran conflict with ours, but only a new snapshot sees them.
  const others = await queries.query<KeyRow>(
    `SELECT team_id, owner, state, wrapped_key FROM mneme.data_keys WHERE team_id = $1 AND owner = ANY($2)`,
    [teamId, missing],
  );
  return [...rows, ...others];
}

const keyAad = ({ team, owner }: KeyRef): string => `${team}|${owner}`;

function checkedTeamId(team: string): string {
  if (team !== systemTeam && (!isUuid(team) || team === systemTeamId))
    throw new TypeError('team must be a UUID in lower case, or system');
  return tableTeamId(team);
}

function checkedOwner(ref: KeyRef): KeyRef {
  if (!/^[A-Za-z0-9_.:-]{1,100}$/.test(ref.owner)) throw new TypeError('a key owner has 1 to 100 letters, digits or _ . : -');
  return ref;
}
