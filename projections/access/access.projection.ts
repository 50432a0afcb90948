import { isRedacted, type RecordedEvent, type Sealed } from '../../src/event-log/domain-event.js';
import { tableTeamId } from '../../src/event-log/stream-name.js';
import { defaultSettings } from '../../src/access/settings.js';
import type { TeamEvent } from '../../src/access/team.js';
import { type Change, type Lookup, lookup, projection, put, type Rows, table } from '../engine/projection.js';

export type TeamRow = {
  team_id: string;
  /** Null once erased. */
  name: string | null;
  review: boolean;
  language: string;
  recording: boolean;
  execution_retention_days: number | null;
  created_at: Date;
  created_position: bigint;
  revision: bigint;
};

export type ProfileRow = {
  team_id: string;
  profile_id: string;
  name: string | null;
  status: string;
  created_at: Date;
  created_position: bigint;
  revision: bigint;
};

export type ApiKeyRow = {
  team_id: string;
  key_id: string;
  profile_id: string | null;
  name: string | null;
  /** Separated by spaces. */
  scopes: string;
  expires_at: Date | null;
  revoked: boolean;
  created_at: Date;
  created_position: bigint;
  revision: bigint;
};

export const teams = table<TeamRow>({
  name: 'teams',
  columns: {
    team_id: 'uuid',
    name: 'text',
    review: 'bool',
    language: 'text',
    recording: 'bool',
    execution_retention_days: 'int4',
    created_at: 'timestamptz',
    created_position: 'int8',
    revision: 'int8',
  },
  nullable: ['name', 'execution_retention_days'],
  key: ['team_id'],
  systemReadable: true,
});

export const profiles = table<ProfileRow>({
  name: 'profiles',
  columns: {
    team_id: 'uuid',
    profile_id: 'uuid',
    name: 'text',
    status: 'text',
    created_at: 'timestamptz',
    created_position: 'int8',
    revision: 'int8',
  },
  nullable: ['name'],
  key: ['team_id', 'profile_id'],
  // Recall as of a position asks whether the owner of evidence was active then.
  history: ['status'],
  indexes: [['team_id', 'created_position']],
  systemReadable: true,
});

export const apiKeys = table<ApiKeyRow>({
  name: 'api_keys',
  columns: {
    team_id: 'uuid',
    key_id: 'uuid',
    profile_id: 'uuid',
    name: 'text',
    scopes: 'text',
    expires_at: 'timestamptz',
    revoked: 'bool',
    created_at: 'timestamptz',
    created_position: 'int8',
    revision: 'int8',
  },
  nullable: ['profile_id', 'name', 'expires_at'],
  key: ['team_id', 'key_id'],
  indexes: [['team_id', 'created_position']],
  systemReadable: true,
});

/** Who may call: teams with their settings, their profiles, and the keys (without anything a key could be guessed from). */
export const accessProjection = projection<TeamEvent>({
  name: 'access',
  version: 2,
  eventTypes: [
    'TeamCreated',
    'TeamSettingsChanged',
    'ProfileCreated',
    'ProfileDeactivated',
    'ProfileReactivated',
    'ApiKeyIssued',
    'ApiKeyRevoked',
  ],
  needsContent: true,
  tables: [teams, profiles, apiKeys],

  load: (events) => events.map((event) => rowOf(event)),

  changes(event, rows) {
    const { data, revision } = event;
    const team_id = teamIdOf(event);
    const created = { created_at: event.recordedAt, created_position: event.position, revision };
    switch (data.type) {
      case 'TeamCreated':
        return unless(
          rows.get(teams, { team_id }),
          put(teams, { team_id, name: nameOf(data.sealed), ...defaultSettings, ...data.settings, ...created }),
        );
      case 'TeamSettingsChanged':
        return later(rows.get(teams, { team_id }), revision, (row) => put(teams, { ...row, ...data.settings, revision }));
      case 'ProfileCreated': {
        const { profile_id } = data;
        const row = { team_id, profile_id, name: nameOf(data.sealed), status: 'active', ...created };
        return unless(rows.get(profiles, { team_id, profile_id }), put(profiles, row));
      }
      case 'ProfileDeactivated':
        return profileTurned(rows, team_id, data.profile_id, 'deactivated', revision);
      case 'ProfileReactivated':
        return profileTurned(rows, team_id, data.profile_id, 'active', revision);
      case 'ApiKeyIssued': {
        const { key_id, profile_id } = data;
        const expires_at = data.expires_at === null ? null : new Date(data.expires_at);
        const row = { team_id, key_id, profile_id, scopes: data.scopes.join(' '), expires_at };
        return unless(
          rows.get(apiKeys, { team_id, key_id }),
          put(apiKeys, { ...row, name: nameOf(data.sealed), revoked: false, ...created }),
        );
      }
      case 'ApiKeyRevoked':
        return later(rows.get(apiKeys, { team_id, key_id: data.key_id }), revision, (row) =>
          put(apiKeys, { ...row, revoked: true, revision }),
        );
      default:
        return data satisfies never;
    }
  },
});

const teamIdOf = ({ team }: RecordedEvent): string => tableTeamId(team);

const nameOf = (content: Sealed<{ name?: string }>): string | null => (isRedacted(content) ? null : (content.name ?? null));

const unless = (row: object | undefined, change: Change): Change[] => (row ? [] : [change]);

const later = <R extends { revision: bigint }>(row: R | undefined, revision: bigint, change: (row: R) => Change): Change[] =>
  row && row.revision < revision ? [change(row)] : [];

const profileTurned = (rows: Rows, team_id: string, profile_id: string, status: string, revision: bigint): Change[] =>
  later(rows.get(profiles, { team_id, profile_id }), revision, (row) => put(profiles, { ...row, status, revision }));

function rowOf(event: RecordedEvent<TeamEvent>): Lookup {
  const { data } = event;
  const team_id = teamIdOf(event);
  switch (data.type) {
    case 'TeamCreated':
    case 'TeamSettingsChanged':
      return lookup(teams, { team_id });
    case 'ProfileCreated':
    case 'ProfileDeactivated':
    case 'ProfileReactivated':
      return lookup(profiles, { team_id, profile_id: data.profile_id });
    case 'ApiKeyIssued':
    case 'ApiKeyRevoked':
      return lookup(apiKeys, { team_id, key_id: data.key_id });
    default:
      return data satisfies never;
  }
}
