import type { Command } from 'commander';
import { type Client, pathOf } from './client.js';
import { type Profile, profileId, teamId } from './lookup.js';
import { tableText } from './output.js';
import type { Shell } from './shell.js';
import { visible } from './visible.js';

interface TeamOption {
  readonly team?: string;
}

interface Receipt {
  readonly profile_id: string;
}

/** Profiles, the authors inside a team: create, list, deactivate, reactivate. */
export function addProfiles(program: Command, shell: Shell): void {
  const profiles = program.command('profiles').description('profiles: authors inside a team, people, agents or services');

  teamOption(profiles.command('create').description('create a profile').argument('<name>', 'name of the profile'))
    .option('-q, --quiet', 'print only the id')
    .action((name: string, options: TeamOption & { quiet?: true }) =>
      shell.withService((client) => create(client, shell, name, options)),
    );

  teamOption(profiles.command('list').description('list the profiles of a team in the order they were created')).action(
    (options: TeamOption) => shell.withService((client) => list(client, shell, options)),
  );

  for (const turn of ['deactivate', 'reactivate'] as const) {
    teamOption(profiles.command(turn).description(descriptions[turn]).argument('<profile>', 'id or name')).action(
      (profile: string, options: TeamOption) => shell.withService((client) => turnProfile(client, shell, turn, profile, options)),
    );
  }
}

const descriptions = {
  deactivate: 'deactivate a profile: its keys stop working',
  reactivate: 'make a deactivated profile active again',
};

const teamOption = (command: Command): Command =>
  command.option('--team <team>', 'id or name of the team; operators name it, the key of a team need not');

async function create(client: Client, { output }: Shell, name: string, options: TeamOption & { quiet?: true }): Promise<void> {
  const team = await teamId(client, options.team);
  const created = await client.post<Receipt>('/v1/profiles', { name, team_id: team });
  const { body } = await visible(client, '/v1/profiles', created, team);
  if (options.quiet) output.bare(body.profile_id);
  else output.result(body, () => `Profile ${name} has the id ${body.profile_id}`);
}

async function list(client: Client, { output }: Shell, options: TeamOption): Promise<void> {
  const profiles = await client.list<Profile>('/v1/profiles', { team_id: await teamId(client, options.team) });
  output.result({ items: profiles }, () =>
    tableText(
      ['ID', 'NAME', 'STATUS', 'CREATED'],
      profiles.map(({ profile_id, name, status, created_at }) => [profile_id, name ?? '(erased)', status, created_at]),
    ),
  );
}

async function turnProfile(
  client: Client,
  { output }: Shell,
  turn: 'deactivate' | 'reactivate',
  named: string,
  options: TeamOption,
): Promise<void> {
  const team = await teamId(client, options.team);
  const profile = await profileId(client, team, named);
  const turned = await client.post<Receipt>(pathOf('v1', 'profiles', profile, turn), { team_id: team });
  const { body } = await visible(client, '/v1/profiles', turned, team);
  output.result(body, () => `Profile ${body.profile_id} is ${turn}d`);
}
