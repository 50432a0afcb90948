import { given } from '../../test/support/given.js';
import { defaultSettings } from './settings.js';
import {
  decide,
  decideOperatorKey,
  evolve,
  isRepetition,
  type IssueApiKey,
  noTeam,
  type TeamCommand,
  type TeamEvent,
} from './team.js';

const team = '11111111-1111-4111-8111-111111111111';
const profile = '22222222-2222-4222-8222-222222222222';
const key = '33333333-3333-4333-8333-333333333333';
const now = new Date('2026-06-01T12:00:00Z');

const created: TeamEvent = { type: 'TeamCreated', team_id: team, settings: defaultSettings, sealed: { name: 'Support' } };
const profileCreated: TeamEvent = { type: 'ProfileCreated', profile_id: profile, sealed: { name: 'agent' } };
const deactivated: TeamEvent = { type: 'ProfileDeactivated', profile_id: profile };
const issued: TeamEvent = {
  type: 'ApiKeyIssued',
  key_id: key,
  profile_id: profile,
  scopes: ['memory:read'],
  expires_at: null,
  sealed: {},
};
const issue = (more: Partial<IssueApiKey> = {}): IssueApiKey => ({
  type: 'IssueApiKey',
  key,
  profile,
  scopes: ['memory:read'],
  expiresAt: undefined,
  name: undefined,
  now,
  ...more,
});

const teams = given({ decide, evolve, initial: noTeam });
const operators = given({ decide: decideOperatorKey, evolve, initial: noTeam });

describe('a team', () => {
  it('starts with the default settings and those that are named', () =>
    teams([])
      .when({ type: 'CreateTeam', team, name: 'Support', settings: { review: true } })
      .then([
        { type: 'TeamCreated', team_id: team, settings: { ...defaultSettings, review: true }, sealed: { name: 'Support' } },
      ]));

  it('records only the settings that change', () =>
    teams([created])
      .when({ type: 'ChangeTeamSettings', settings: { review: false, language: 'german' } })
      .then([{ type: 'TeamSettingsChanged', settings: { language: 'german' } }]));

  it('records nothing when the settings are so already', () =>
    teams([created, { type: 'TeamSettingsChanged', settings: { recording: true } }])
      .when({ type: 'ChangeTeamSettings', settings: { recording: true } })
      .then([]));

  it('keeps the verdicts of runs for ever, until a retention is set, and again when it is taken back', () => {
    const limited: TeamEvent = { type: 'TeamSettingsChanged', settings: { execution_retention_days: 30 } };
    const keep = { type: 'ChangeTeamSettings', settings: { execution_retention_days: null } } as const;
    teams([created]).when(keep).then([]);
    teams([created])
      .when({ type: 'ChangeTeamSettings', settings: { execution_retention_days: 30 } })
      .then([limited]);
    teams([created, limited])
      .when(keep)
      .then([{ type: 'TeamSettingsChanged', settings: { execution_retention_days: null } }]);
  });

  it('that is older than a setting has its default', () => {
    const { execution_retention_days, ...settings } = defaultSettings;
    const old: TeamEvent = { type: 'TeamCreated', team_id: team, settings, sealed: { name: 'Support' } };
    expect(evolve(noTeam, old)).toMatchObject({ settings: { execution_retention_days } });
    teams([old]).when({ type: 'ChangeTeamSettings', settings: { execution_retention_days } }).then([]);
    expect(isRepetition({ type: 'CreateTeam', team, name: 'Support', settings: {} }, [old])).toBe(true);
    expect(isRepetition({ type: 'CreateTeam', team, name: 'Support', settings: { execution_retention_days: 1 } }, [old])).toBe(
      false,
    );
  });

  it.each<TeamCommand>([
    { type: 'ChangeTeamSettings', settings: { review: true } },
    { type: 'CreateProfile', profile, name: 'agent' },
    { type: 'DeactivateProfile', profile },
    issue(),
    { type: 'RevokeApiKey', key },
  ])('that does not exist is not found: $type', (command) => teams([]).when(command).thenRefuses('not_found'));
});

describe('a profile', () => {
  it('is created once', () => {
    const command = { type: 'CreateProfile', profile, name: 'agent' } as const;
    teams([created]).when(command).then([profileCreated]);
    teams([created, profileCreated]).when(command).then([]);
  });

  it('is deactivated and reactivated, each once', () => {
    teams([created, profileCreated]).when({ type: 'DeactivateProfile', profile }).then([deactivated]);
    teams([created, profileCreated, deactivated]).when({ type: 'DeactivateProfile', profile }).then([]);
    teams([created, profileCreated, deactivated])
      .when({ type: 'ReactivateProfile', profile })
      .then([{ type: 'ProfileReactivated', profile_id: profile }]);
    teams([created, profileCreated]).when({ type: 'ReactivateProfile', profile }).then([]);
  });

  it('that is unknown is not found', () =>
    teams([created]).when({ type: 'DeactivateProfile', profile }).thenRefuses('not_found'));
});

describe('a key of a team', () => {
  const withProfile = teams([created, profileCreated]);

  it('is issued with each scope once, in a fixed order, and without the key itself', () =>
    withProfile
      .when(issue({ scopes: ['memory:write', 'memory:read', 'memory:write'], name: 'ci', expiresAt: '2027-01-01T00:00:00.000Z' }))
      .then([
        {
          type: 'ApiKeyIssued',
          key_id: key,
          profile_id: profile,
          scopes: ['memory:read', 'memory:write'],
          expires_at: '2027-01-01T00:00:00.000Z',
          sealed: { name: 'ci' },
        },
      ]));

  it('cannot manage projections, which all teams share', () =>
    withProfile.when(issue({ scopes: ['projections:manage'] })).thenRefuses('scope_not_allowed'));

  it.each(['memory:write', 'feedback:write'] as const)('needs a profile for %s, because someone must be the author', (scope) =>
    withProfile.when(issue({ profile: undefined, scopes: [scope] })).thenRefuses('profile_required'),
  );

  it('needs no profile to administer', () =>
    teams([created])
      .when(issue({ profile: undefined, scopes: ['admin'] }))
      .then([{ type: 'ApiKeyIssued', key_id: key, profile_id: null, scopes: ['admin'], expires_at: null, sealed: {} }]));

  it('needs a profile of the team', () => teams([created]).when(issue()).thenRefuses('profile_unknown'));

  it('is not issued for a deactivated profile', () =>
    teams([created, profileCreated, deactivated]).when(issue()).thenRefuses('profile_deactivated'));

  it('must expire in the future', () =>
    withProfile.when(issue({ expiresAt: now.toISOString() })).thenRefuses('expiry_not_in_future'));

  it('is revoked once and for ever', () => {
    teams([created, issued])
      .when({ type: 'RevokeApiKey', key })
      .then([{ type: 'ApiKeyRevoked', key_id: key }]);
    teams([created, issued, { type: 'ApiKeyRevoked', key_id: key }])
      .when({ type: 'RevokeApiKey', key })
      .then([]);
    teams([created]).when({ type: 'RevokeApiKey', key }).thenRefuses('not_found');
  });
});

describe('an operator key', () => {
  it('administers teams and read models', () =>
    operators([])
      .when(issue({ profile: undefined, scopes: ['projections:manage', 'admin'] }))
      .then([
        {
          type: 'ApiKeyIssued',
          key_id: key,
          profile_id: null,
          scopes: ['admin', 'projections:manage'],
          expires_at: null,
          sealed: {},
        },
      ]));

  it.each(['memory:read', 'memory:write', 'audit:read', 'erase'] as const)('cannot have %s: it sees no memory', (scope) =>
    operators([])
      .when(issue({ profile: undefined, scopes: ['admin', scope] }))
      .thenRefuses('scope_not_allowed'),
  );

  it('belongs to no profile', () =>
    operators([])
      .when(issue({ scopes: ['admin'] }))
      .thenRefuses('profile_not_allowed'));
});

describe('a command sent again under its idempotency key', () => {
  const commands: [TeamCommand, TeamEvent][] = [
    [{ type: 'CreateTeam', team, name: 'Support', settings: {} }, created],
    [
      { type: 'ChangeTeamSettings', settings: { review: true } },
      { type: 'TeamSettingsChanged', settings: { review: true } },
    ],
    [{ type: 'CreateProfile', profile, name: 'agent' }, profileCreated],
    [{ type: 'DeactivateProfile', profile }, deactivated],
    [
      { type: 'ReactivateProfile', profile },
      { type: 'ProfileReactivated', profile_id: profile },
    ],
    [issue(), issued],
    [
      { type: 'RevokeApiKey', key },
      { type: 'ApiKeyRevoked', key_id: key },
    ],
  ];

  it.each(commands)('is a repetition when its events are what it does: $type', (command, event) => {
    expect(isRepetition(command, [event])).toBe(true);
  });

  it('is none when the key was used for another kind of command', () => {
    for (const [command] of commands) {
      for (const [other, event] of commands) {
        if (other.type !== command.type) expect(isRepetition(command, [event])).toBe(false);
      }
    }
  });

  it.each<[TeamCommand, TeamEvent]>([
    [{ type: 'CreateTeam', team, name: 'Sales', settings: {} }, created],
    [{ type: 'CreateTeam', team, name: 'Support', settings: { review: true } }, created],
    [
      { type: 'ChangeTeamSettings', settings: { review: false } },
      { type: 'TeamSettingsChanged', settings: { review: true } },
    ],
    [{ type: 'CreateProfile', profile, name: 'other' }, profileCreated],
    [issue({ scopes: ['memory:read', 'erase'] }), issued],
    [issue({ profile: undefined }), issued],
    [issue({ name: 'other' }), issued],
    [issue({ expiresAt: '2027-01-01T00:00:00.000Z' }), issued],
  ])('is none when its content differs: $type', (command, event) => {
    expect(isRepetition(command, [event])).toBe(false);
  });

  it('counts an erased name as equal, because it cannot be compared any more', () => {
    const erased: TeamEvent = { ...profileCreated, sealed: { redacted: true } };
    expect(isRepetition({ type: 'CreateProfile', profile, name: 'anything' }, [erased])).toBe(true);
  });
});
