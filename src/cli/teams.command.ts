import { type Command, InvalidArgumentError } from 'commander';
import { type Client, pathOf } from './client.js';
import { usageFailure } from './failure.js';
import { type Team, teamId } from './lookup.js';
import { tableText } from './output.js';
import type { Shell } from './shell.js';
import { visible } from './visible.js';

interface SettingsOptions {
  readonly review?: boolean;
  readonly language?: string;
  readonly recording?: boolean;
  readonly executionRetentionDays?: number | 'off';
}

/** Teams: create, list, settings. */
export function addTeams(program: Command, shell: Shell): void {
  const teams = program.command('teams').description('teams: the tenants; every memory belongs to exactly one');

  settingsOptions(teams.command('create').description('create a team').argument('<name>', 'name of the team'))
    .option('-q, --quiet', 'print only the id')
    .action((name: string, options: SettingsOptions & { quiet?: true }) =>
      shell.withService((client) => create(client, shell, name, options)),
    );

  teams
    .command('list')
    .description('list teams in the order they were created')
    .action(() => shell.withService((client) => list(client, shell)));

  settingsOptions(teams.command('settings').description('change settings of a team').argument('<team>', 'id or name')).action(
    (team: string, options: SettingsOptions) => {
      if (Object.keys(options).length === 0)
        throw usageFailure('settings', 'name a setting: --review, --language, --recording, --execution-retention-days');
      return shell.withService((client) => changeSettings(client, shell, team, options));
    },
  );
}

const settingsOptions = (command: Command): Command =>
  command
    .option('--review <on|off>', 'whether new procedure versions wait for review', onOrOff)
    .option('--language <language>', 'language of the texts, for stemming, for example english; has no effect yet')
    .option('--recording <on|off>', 'whether recalls are recorded; has no effect yet', onOrOff)
    .option('--execution-retention-days <days|off>', 'days after which runs lose their verdicts', daysOrOff);

function onOrOff(text: string): boolean {
  if (text !== 'on' && text !== 'off') throw new InvalidArgumentError('Say on or off.');
  return text === 'on';
}

/** The range is the service's to say. Not null for off, which the parser takes for no value. */
function daysOrOff(text: string): number | 'off' {
  if (text === 'off') return text;
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('Say a number of days, or off.');
  return Number(text);
}

/** Settings under the names of the API. */
const bodyOf = ({ executionRetentionDays, ...settings }: SettingsOptions): object => ({
  ...settings,
  ...(executionRetentionDays !== undefined && {
    execution_retention_days: executionRetentionDays === 'off' ? null : executionRetentionDays,
  }),
});

async function create(
  client: Client,
  { output }: Shell,
  name: string,
  { quiet, ...settings }: SettingsOptions & { quiet?: true },
): Promise<void> {
  const { body } = await visible(
    client,
    '/v1/teams',
    await client.post<{ team_id: string }>('/v1/teams', { name, settings: bodyOf(settings) }),
  );
  if (quiet) output.bare(body.team_id);
  else output.result(body, () => `Team ${name} has the id ${body.team_id}`);
}

async function list(client: Client, { output }: Shell): Promise<void> {
  const teams = await client.list<Team>('/v1/teams');
  output.result({ items: teams }, () =>
    tableText(
      ['ID', 'NAME', 'REVIEW', 'LANGUAGE', 'RECORDING', 'RETENTION', 'CREATED'],
      teams.map(({ team_id, name, settings, created_at }) => [
        team_id,
        name ?? '(erased)',
        settings.review ? 'on' : 'off',
        settings.language,
        settings.recording ? 'on' : 'off',
        settings.execution_retention_days === null ? 'off' : `${settings.execution_retention_days} days`,
        created_at,
      ]),
    ),
  );
}

async function changeSettings(client: Client, { output }: Shell, named: string, settings: SettingsOptions): Promise<void> {
  const team = (await teamId(client, named)) ?? named;
  const changed = await client.patch<{ team_id: string }>(pathOf('v1', 'teams', team, 'settings'), bodyOf(settings));
  const { body } = await visible(client, '/v1/teams', changed);
  output.result(body, () => `The settings of team ${body.team_id} are changed`);
}
