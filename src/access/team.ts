import { isDeepStrictEqual } from 'node:util';
import { isRedacted, type Sealed } from '../event-log/domain-event.js';
import type { EventDefinitions } from '../event-log/event-catalogue.js';
import type { Refusal } from '../event-log/execute.js';
import { type StreamId, systemTeam } from '../event-log/stream-name.js';
import { isOperatorScope, isTeamScope, type Scope } from './scopes.js';
import { defaultSettings, type Settings } from './settings.js';

/**
 * A team: its settings, its profiles (the authors inside it) and the keys that act for it.
 *
 * Operator keys, which belong to no team, have a stream of the same kind, where only keys are issued and revoked.
 */
export const teamStream = (team: string): StreamId => ({ kind: 'team', team, id: team });
export const operatorStream: StreamId = { kind: 'team', team: systemTeam, id: 'operators' };

interface Named {
  readonly name: string;
}

/** Teams that are older than a setting were created without it, and have its default. */
type FirstSettings = Omit<Settings, 'execution_retention_days'> & Partial<Pick<Settings, 'execution_retention_days'>>;

export type TeamEvent =
  | { readonly type: 'TeamCreated'; readonly team_id: string; readonly settings: FirstSettings; readonly sealed: Sealed<Named> }
  | { readonly type: 'TeamSettingsChanged'; readonly settings: Partial<Settings> }
  | { readonly type: 'ProfileCreated'; readonly profile_id: string; readonly sealed: Sealed<Named> }
  | { readonly type: 'ProfileDeactivated'; readonly profile_id: string }
  | { readonly type: 'ProfileReactivated'; readonly profile_id: string }
  | {
      readonly type: 'ApiKeyIssued'; // never the key, nor its hash
      readonly key_id: string;
      readonly profile_id: string | null;
      readonly scopes: readonly Scope[];
      readonly expires_at: string | null;
      readonly sealed: Sealed<Partial<Named>>;
    }
  | { readonly type: 'ApiKeyRevoked'; readonly key_id: string };

/** Each name is sealed under the key of what it names, so that it can be erased by itself. */
export const accessEvents: EventDefinitions<TeamEvent> = {
  TeamCreated: { version: 1, keyOwner: ({ team_id }) => team_id },
  TeamSettingsChanged: { version: 1 },
  ProfileCreated: { version: 1, keyOwner: ({ profile_id }) => profile_id },
  ProfileDeactivated: { version: 1 },
  ProfileReactivated: { version: 1 },
  ApiKeyIssued: { version: 1, keyOwner: ({ key_id }) => key_id },
  ApiKeyRevoked: { version: 1 },
};

export type ProfileStatus = 'active' | 'deactivated';
export type KeyStatus = 'valid' | 'revoked';

interface Keys {
  readonly keys: ReadonlyMap<string, KeyStatus>;
}

export type Team =
  | ({ readonly status: 'none' } & Keys)
  | ({ readonly status: 'open'; readonly settings: Settings; readonly profiles: ReadonlyMap<string, ProfileStatus> } & Keys);

export const noTeam: Team = { status: 'none', keys: new Map() };

export function evolve(team: Team, event: TeamEvent): Team {
  switch (event.type) {
    case 'TeamCreated':
      return { ...team, status: 'open', settings: { ...defaultSettings, ...event.settings }, profiles: new Map() };
    case 'TeamSettingsChanged':
      return team.status === 'open' ? { ...team, settings: { ...team.settings, ...event.settings } } : team;
    case 'ProfileCreated':
    case 'ProfileReactivated':
      return withProfile(team, event.profile_id, 'active');
    case 'ProfileDeactivated':
      return withProfile(team, event.profile_id, 'deactivated');
    case 'ApiKeyIssued':
      return { ...team, keys: new Map(team.keys).set(event.key_id, 'valid') };
    case 'ApiKeyRevoked':
      return { ...team, keys: new Map(team.keys).set(event.key_id, 'revoked') };
    default:
      event satisfies never;
      return team; // the stream holds other slices' events too
  }
}

const withProfile = (team: Team, profile: string, status: ProfileStatus): Team =>
  team.status === 'open' ? { ...team, profiles: new Map(team.profiles).set(profile, status) } : team;

export type TeamCommand =
  | { readonly type: 'CreateTeam'; readonly team: string; readonly name: string; readonly settings: Partial<Settings> }
  | { readonly type: 'ChangeTeamSettings'; readonly settings: Partial<Settings> }
  | { readonly type: 'CreateProfile'; readonly profile: string; readonly name: string }
  | { readonly type: 'DeactivateProfile'; readonly profile: string }
  | { readonly type: 'ReactivateProfile'; readonly profile: string }
  | IssueApiKey
  | { readonly type: 'RevokeApiKey'; readonly key: string };

export interface IssueApiKey {
  readonly type: 'IssueApiKey';
  readonly key: string;
  readonly profile: string | undefined;
  readonly scopes: readonly Scope[];
  /** ISO time. */
  readonly expiresAt: string | undefined;
  readonly name: string | undefined;
  readonly now: Date;
}

/** Scopes that write in somebody's name. */
const authoring: readonly Scope[] = ['memory:write', 'feedback:write'];

const unknown: Refusal = { refused: 'not_found' };

/** The events that follow from a command on a team's stream, none when it is already so, or the reason why not. */
export function decide(command: TeamCommand, team: Team): readonly TeamEvent[] | Refusal {
  if (command.type === 'CreateTeam') return team.status === 'open' ? [] : created(command);
  if (team.status === 'none') return unknown;
  switch (command.type) {
    case 'ChangeTeamSettings':
      return settingsChanged(team.settings, command.settings);
    case 'CreateProfile':
      if (team.profiles.has(command.profile)) return [];
      return [{ type: 'ProfileCreated', profile_id: command.profile, sealed: { name: command.name } }];
    case 'DeactivateProfile':
      return profileTurned(team.profiles.get(command.profile), 'deactivated', {
        type: 'ProfileDeactivated',
        profile_id: command.profile,
      });
    case 'ReactivateProfile':
      return profileTurned(team.profiles.get(command.profile), 'active', {
        type: 'ProfileReactivated',
        profile_id: command.profile,
      });
    case 'IssueApiKey':
      return teamKeyIssued(command, team.profiles);
    case 'RevokeApiKey':
      return keyRevoked(command.key, team);
    default:
      return command satisfies never;
  }
}

/** The same for the stream of operator keys. */
export function decideOperatorKey(
  command: Extract<TeamCommand, { type: 'IssueApiKey' | 'RevokeApiKey' }>,
  operators: Team,
): readonly TeamEvent[] | Refusal {
  if (command.type === 'RevokeApiKey') return keyRevoked(command.key, operators);
  if (command.profile !== undefined) return { refused: 'profile_not_allowed', field: 'profile_id' };
  if (!command.scopes.every(isOperatorScope)) return { refused: 'scope_not_allowed', field: 'scopes' };
  return keyIssued(command);
}

function created({ team, name, settings }: Extract<TeamCommand, { type: 'CreateTeam' }>): TeamEvent[] {
  return [{ type: 'TeamCreated', team_id: team, settings: { ...defaultSettings, ...settings }, sealed: { name } }];
}

function settingsChanged(now: Settings, wanted: Partial<Settings>): TeamEvent[] {
  const changed = Object.fromEntries(Object.entries(wanted).filter(([name, value]) => now[name as keyof Settings] !== value));
  return Object.keys(changed).length === 0 ? [] : [{ type: 'TeamSettingsChanged', settings: changed }];
}

function profileTurned(now: ProfileStatus | undefined, wanted: ProfileStatus, event: TeamEvent): TeamEvent[] | Refusal {
  if (now === undefined) return unknown;
  return now === wanted ? [] : [event];
}

function teamKeyIssued(command: IssueApiKey, profiles: ReadonlyMap<string, ProfileStatus>): TeamEvent[] | Refusal {
  if (!command.scopes.every(isTeamScope)) return { refused: 'scope_not_allowed', field: 'scopes' };
  if (command.profile === undefined) {
    if (command.scopes.some((scope) => authoring.includes(scope))) return { refused: 'profile_required', field: 'profile_id' };
    return keyIssued(command);
  }
  const profile = profiles.get(command.profile);
  if (profile === undefined) return { refused: 'profile_unknown', field: 'profile_id' };
  if (profile === 'deactivated') return { refused: 'profile_deactivated', field: 'profile_id' };
  return keyIssued(command);
}

function keyIssued(command: IssueApiKey): TeamEvent[] | Refusal {
  const { key, profile, expiresAt, name, now } = command;
  if (expiresAt !== undefined && new Date(expiresAt) <= now) return { refused: 'expiry_not_in_future', field: 'expires_at' };
  return [
    {
      type: 'ApiKeyIssued',
      key_id: key,
      profile_id: profile ?? null,
      scopes: distinctScopes(command),
      expires_at: expiresAt ?? null,
      sealed: name === undefined ? {} : { name },
    },
  ];
}

function keyRevoked(key: string, { keys }: Keys): TeamEvent[] | Refusal {
  const status = keys.get(key);
  if (status === undefined) return unknown;
  return status === 'revoked' ? [] : [{ type: 'ApiKeyRevoked', key_id: key }];
}

/**
 * Whether the events of an earlier command with the same id are what this command does. If not, the caller used one
 * idempotency key for two different commands.
 */
export function isRepetition(command: TeamCommand, [event]: readonly TeamEvent[]): boolean {
  switch (command.type) {
    case 'CreateTeam': {
      if (event?.type !== 'TeamCreated') return false;
      const [first, wanted] = [event.settings, command.settings].map((settings) => ({ ...defaultSettings, ...settings }));
      return isDeepStrictEqual(first, wanted) && isNamed(event.sealed, command.name);
    }
    case 'ChangeTeamSettings':
      return (
        event?.type === 'TeamSettingsChanged' &&
        Object.entries(event.settings).every(([name, value]) => command.settings[name as keyof Settings] === value)
      );
    case 'CreateProfile':
      return event?.type === 'ProfileCreated' && event.profile_id === command.profile && isNamed(event.sealed, command.name);
    case 'DeactivateProfile':
      return event?.type === 'ProfileDeactivated' && event.profile_id === command.profile;
    case 'ReactivateProfile':
      return event?.type === 'ProfileReactivated' && event.profile_id === command.profile;
    case 'IssueApiKey':
      return (
        event?.type === 'ApiKeyIssued' &&
        event.key_id === command.key &&
        event.profile_id === (command.profile ?? null) &&
        event.expires_at === (command.expiresAt ?? null) &&
        isDeepStrictEqual(event.scopes, distinctScopes(command)) &&
        isNamed(event.sealed, command.name)
      );
    case 'RevokeApiKey':
      return event?.type === 'ApiKeyRevoked' && event.key_id === command.key;
    default:
      return command satisfies never;
  }
}

/** An erased name cannot be compared, and counts as equal. */
const isNamed = (content: Sealed<Partial<Named>>, name: string | undefined): boolean =>
  isRedacted(content) || content.name === name;

const distinctScopes = ({ scopes }: IssueApiKey): Scope[] => [...new Set(scopes)].sort();
