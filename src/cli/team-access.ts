import { type Client, pathOf } from './client.js';
import { CliFailure, exitCodes, isCliFailure } from './failure.js';
import { type Profile, type Team, teamId } from './lookup.js';
import { visible } from './visible.js';

/** What a command does in a team. */
export interface TeamAccess {
  readonly client: Client;
  /** Ends the access; nothing happens where the key was the user's own. */
  close(): Promise<void>;
}

export interface WantedAccess {
  /** Id or name; left out, the key at hand is of the team already. */
  readonly team: string | undefined;
  /** Name of the author that writes. Reading needs none. */
  readonly profile?: string | undefined;
  readonly scopes: readonly string[];
}

/** Works in a team: with the key at hand, or, where the team is named, with one that is made for this and revoked afterwards. */
export async function inTeam<T>(operator: Client, wanted: WantedAccess, work: (client: Client) => Promise<T>): Promise<T> {
  if (wanted.team === undefined) return work(operator).catch(withAdvice);
  const access = await openTeam(operator, { ...wanted, team: (await teamId(operator, wanted.team)) ?? wanted.team });
  try {
    return await work(access.client);
  } finally {
    await access.close();
  }
}

/** @param wanted.team id */
export async function openTeam(operator: Client, wanted: WantedAccess & { readonly team: string }): Promise<TeamAccess> {
  const { team, profile, scopes } = wanted;
  const issued = await operator.post<{ key_id: string; key: string }>('/v1/keys', {
    team_id: team,
    profile_id: profile === undefined ? undefined : await profileNamed(operator, team, profile),
    scopes,
    // Should the command be killed before it revokes it.
    expires_at: new Date(Date.now() + dayMs).toISOString(),
    name: 'mneme command line',
  });
  return {
    client: operator.as(issued.body.key),
    close: async () => {
      // The key expires by itself; what the command did stands, whether or not this succeeds.
      await operator.post(pathOf('v1', 'keys', issued.body.key_id, 'revoke'), { team_id: team }).catch(() => undefined);
    },
  };
}

const dayMs = 86_400_000;

/** The team of that name; made where there is none. @throws CliFailure when several have it */
export async function teamNamed(operator: Client, name: string): Promise<string> {
  const teams = await operator.list<Team>('/v1/teams');
  if (teams.some((one) => one.name === name)) return (await teamId(operator, name)) ?? name;
  const created = await operator.post<{ team_id: string }>('/v1/teams', { name });
  return (await visible(operator, '/v1/teams', created)).body.team_id;
}

/** The first of that name: an author, made where there is none. */
async function profileNamed(operator: Client, team: string, name: string): Promise<string> {
  const profiles = await operator.list<Profile>('/v1/profiles', { team_id: team });
  const known = profiles.find((one) => one.name === name || one.profile_id === name);
  if (known) return known.profile_id;
  return (await operator.post<{ profile_id: string }>('/v1/profiles', { team_id: team, name })).body.profile_id;
}

function withAdvice(error: unknown): never {
  if (!isCliFailure(error) || error.code !== 'team_required') throw error;
  const message = 'the key is an operator’s, who sees no memory: name the team with --team, or set MNEME_API_KEY to a key of one';
  throw new CliFailure(exitCodes.failed, error.code, message, error.facts, { cause: error });
}
