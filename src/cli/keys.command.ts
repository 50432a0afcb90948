import { type Command, InvalidArgumentError, Option } from 'commander';
import { operatorScopes, scopes } from '../access/scopes.js';
import { type Client, pathOf } from './client.js';
import { usageFailure } from './failure.js';
import { type Key, profileId, teamId } from './lookup.js';
import { tableText } from './output.js';
import type { Shell } from './shell.js';
import { visible } from './visible.js';

interface CreateOptions {
  readonly admin?: true;
  readonly team?: string;
  readonly profile?: string;
  readonly scope?: readonly string[];
  readonly expires?: Date;
  readonly name?: string;
  readonly quiet?: true;
}

/** API keys: create, list, revoke. */
export function addKeys(program: Command, shell: Shell): void {
  const keys = program.command('keys').description('API keys: of a team, or of operators');

  keys
    .command('create')
    .description('create a key; it is shown this once')
    .option('--admin', 'a key for operators, who administer all teams and see no memory')
    .option('--team <team>', 'id or name of the team that the key acts for')
    .option('--profile <profile>', 'id or name of the author that the key writes as')
    .addOption(new Option('--scope <scope...>', 'what the key may do').choices([...scopes]))
    .option('--expires <when>', 'when it stops working: 90d, 12h or a time such as 2030-01-31T00:00:00Z', expiry)
    .option('--name <name>', 'what the key is for')
    .option('-q, --quiet', 'print only the key')
    .action((options: CreateOptions) => {
      checkCreate(options);
      return shell.withService((client) => create(client, shell, options));
    });

  teamOption(keys.command('list').description('list keys in the order they were created, without their secrets')).action(
    (options: { team?: string }) => shell.withService((client) => list(client, shell, options.team)),
  );

  teamOption(keys.command('revoke').description('revoke a key, for ever').argument('<key-id>', 'id of the key')).action(
    (keyId: string, options: { team?: string }) => shell.withService((client) => revoke(client, shell, keyId, options.team)),
  );
}

const teamOption = (command: Command): Command =>
  command.option('--team <team>', 'id or name of the team; without it, the keys of operators');

const unitMs = { h: 3_600_000, d: 86_400_000 } as const;

/** @returns a time in the future or not: the service decides */
export function expiry(text: string, _previous?: unknown, now = Date.now()): Date {
  const [, count, unit] = /^(\d{1,6})([hd])$/.exec(text) ?? [];
  if (count !== undefined) return new Date(now + Number(count) * unitMs[unit as keyof typeof unitMs]);
  const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i.test(text) ? new Date(text) : new Date(NaN);
  if (Number.isNaN(time.getTime())) throw new InvalidArgumentError('Say 90d, 12h or a time such as 2030-01-31T00:00:00Z.');
  return time;
}

function checkCreate({ admin, team, profile, scope }: CreateOptions): void {
  if (admin && team !== undefined) throw usageFailure('team', '--admin and --team exclude each other');
  if (admin && profile !== undefined) throw usageFailure('profile', '--admin and --profile exclude each other');
  if (!admin && scope === undefined) throw usageFailure('scope', 'name at least one --scope, or --admin');
}

async function create(client: Client, { output }: Shell, options: CreateOptions): Promise<void> {
  const team = await teamId(client, options.team);
  const { body } = await client.post<{ key_id: string; key: string | null }>('/v1/keys', {
    team_id: team,
    profile_id: options.profile === undefined ? undefined : await profileId(client, team, options.profile),
    scopes: options.scope ?? operatorScopes,
    expires_at: options.expires?.toISOString(),
    name: options.name,
  });
  if (options.quiet) return output.bare(body.key ?? '');
  output.result(body, () => body.key ?? '');
  output.note(`Keep it: it is not shown again. Its id is ${body.key_id}`);
}

async function list(client: Client, { output }: Shell, named: string | undefined): Promise<void> {
  const keys = await client.list<Key>('/v1/keys', { team_id: await teamId(client, named) });
  output.result({ items: keys }, () =>
    tableText(
      ['ID', 'NAME', 'PROFILE', 'SCOPES', 'EXPIRES', 'STATE', 'CREATED'],
      keys.map(({ key_id, name, profile_id, scopes: allowed, expires_at, revoked, created_at }) => [
        key_id,
        name ?? '',
        profile_id ?? '',
        allowed.join(' '),
        expires_at ?? 'never',
        revoked ? 'revoked' : 'valid',
        created_at,
      ]),
    ),
  );
}

async function revoke(client: Client, { output }: Shell, keyId: string, named: string | undefined): Promise<void> {
  const team = await teamId(client, named);
  const revoked = await client.post<{ key_id: string }>(pathOf('v1', 'keys', keyId, 'revoke'), { team_id: team });
  const { body } = await visible(client, '/v1/keys', revoked, team);
  output.result(body, () => `Key ${body.key_id} is revoked`);
}
