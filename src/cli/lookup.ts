import type { Client } from './client.js';
import { CliFailure, exitCodes } from './failure.js';

/** Teams, profiles and keys as the service lists them. */
export interface Team {
  readonly team_id: string;
  readonly name: string | null;
  readonly settings: {
    readonly review: boolean;
    readonly language: string;
    readonly recording: boolean;
    readonly execution_retention_days: number | null;
  };
  readonly created_at: string;
}

export interface Profile {
  readonly profile_id: string;
  readonly team_id: string;
  readonly name: string | null;
  readonly status: string;
  readonly created_at: string;
}

export interface Key {
  readonly key_id: string;
  readonly team_id: string | null;
  readonly profile_id: string | null;
  readonly name: string | null;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
  readonly revoked: boolean;
  readonly created_at: string;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Id of a team given by id or name; undefined stays so: the key's own team, or operators. */
export async function teamId(client: Client, named: string | undefined): Promise<string | undefined> {
  if (named === undefined || uuid.test(named)) return named;
  const teams = await client.list<Team>('/v1/teams');
  return only(
    'team',
    teams.filter(({ name }) => name === named),
    ({ team_id }) => team_id,
  ).team_id;
}

/** Id of a profile given by id or name. */
export async function profileId(client: Client, team: string | undefined, named: string): Promise<string> {
  if (uuid.test(named)) return named;
  const profiles = await client.list<Profile>('/v1/profiles', { team_id: team });
  return only(
    'profile',
    profiles.filter(({ name }) => name === named),
    ({ profile_id }) => profile_id,
  ).profile_id;
}

/** Names are not unique, so one that means several is refused rather than guessed. */
function only<Item>(kind: 'team' | 'profile', found: readonly Item[], id: (item: Item) => string): Item {
  const [first, second] = found;
  if (first === undefined)
    throw new CliFailure(exitCodes.failed, `${kind}_unknown`, `there is no ${kind} of that name`, { field: kind });
  if (second !== undefined) {
    const ids = found.map(id).join(', ');
    throw new CliFailure(exitCodes.failed, `${kind}_ambiguous`, `several ${kind}s have that name, give an id: ${ids}`, {
      field: kind,
    });
  }
  return first;
}
