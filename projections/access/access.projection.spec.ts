import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { systemTeamId, tableTeamId } from '../../src/event-log/stream-name.js';
import type { TeamEvent } from '../../src/access/team.js';
import { defaultSettings } from '../../src/access/settings.js';
import { type Change, lookup, type Table } from '../engine/projection.js';
import { Coverage, RowSet } from '../engine/row-set.js';
import { shapeOf } from '../engine/table-shape.js';
import { accessProjection, apiKeys, profiles, teams } from './access.projection.js';

const team = '11111111-1111-4111-8111-111111111111';
const profile = '22222222-2222-4222-8222-222222222222';
const key = '33333333-3333-4333-8333-333333333333';
const recordedAt = new Date('2026-06-01T12:00:00Z');

const recorded = (data: TeamEvent, revision: number, of = team): RecordedEvent<TeamEvent> => ({
  stream: `mneme_team-${of}_${of}`,
  team: of,
  kind: 'team',
  streamId: of,
  revision: BigInt(revision),
  position: BigInt(100 + revision),
  recordedAt,
  eventId: `event-${revision}`,
  data,
  metadata: {
    correlationId: 'c',
    causationId: 'c',
    causationDepth: 0,
    team: of,
    profile: undefined,
    apiKey: undefined,
    schemaVersion: 1,
    occurredAt: undefined,
    previousHash: '',
    hash: '',
  },
});

/** The rows after the events of one stream, each applied `times` times. */
function rowsAfter(events: readonly TeamEvent[], { of = team, times = 1 } = {}) {
  const rows = new RowSet();
  for (const [index, data] of events.entries()) {
    const event = recorded(data, index, of);
    for (let time = 0; time < times; time += 1) {
      const lookups = accessProjection.load([event]);
      const coverage = new Coverage();
      for (const asked of lookups) coverage.add(asked);
      for (const change of accessProjection.changes(event, rows.view(coverage))) apply(rows, change);
    }
  }
  const team_id = tableTeamId(of);
  const all = new Coverage();
  for (const table of [teams, profiles, apiKeys]) all.add(lookup(table as Table<{ team_id: string }>, { team_id }));
  const view = rows.view(all);
  return {
    team: view.get(teams, { team_id }),
    profile: view.get(profiles, { team_id, profile_id: profile }),
    key: view.get(apiKeys, { team_id, key_id: key }),
  };
}

function apply(rows: RowSet, change: Change): void {
  if (change.op !== 'put') throw new Error('this projection only puts');
  rows.put(shapeOf(change.table), change.row);
}

const created: TeamEvent = { type: 'TeamCreated', team_id: team, settings: defaultSettings, sealed: { name: 'Support' } };
const profileCreated: TeamEvent = { type: 'ProfileCreated', profile_id: profile, sealed: { name: 'agent' } };
const issued: TeamEvent = {
  type: 'ApiKeyIssued',
  key_id: key,
  profile_id: profile,
  scopes: ['memory:read', 'memory:write'],
  expires_at: '2027-01-01T00:00:00.000Z',
  sealed: { name: 'ci' },
};
const whole: TeamEvent[] = [
  created,
  { type: 'TeamSettingsChanged', settings: { language: 'german', execution_retention_days: 90 } },
  profileCreated,
  issued,
  { type: 'ProfileDeactivated', profile_id: profile },
  { type: 'ProfileReactivated', profile_id: profile },
  { type: 'ApiKeyRevoked', key_id: key },
];

describe('the read model of access', () => {
  it('holds teams, profiles and keys as their events left them', () => {
    expect(rowsAfter(whole)).toEqual({
      team: {
        team_id: team,
        name: 'Support',
        review: false,
        language: 'german',
        recording: false,
        execution_retention_days: 90,
        created_at: recordedAt,
        created_position: 100n,
        revision: 1n,
      },
      profile: {
        team_id: team,
        profile_id: profile,
        name: 'agent',
        status: 'active',
        created_at: recordedAt,
        created_position: 102n,
        revision: 5n,
      },
      key: {
        team_id: team,
        key_id: key,
        profile_id: profile,
        name: 'ci',
        scopes: 'memory:read memory:write',
        expires_at: new Date('2027-01-01T00:00:00Z'),
        revoked: true,
        created_at: recordedAt,
        created_position: 103n,
        revision: 6n,
      },
    });
  });

  it('is the same when each event is applied twice', () => {
    for (let length = 1; length <= whole.length; length += 1) {
      const events = whole.slice(0, length);
      expect(rowsAfter(events, { times: 2 })).toEqual(rowsAfter(events));
    }
  });

  it('keeps operator keys under the zero team, which is nobody’s', () => {
    const operator: TeamEvent = { ...issued, profile_id: null, scopes: ['admin'], expires_at: null };
    const rows = rowsAfter([operator], { of: 'system' });
    expect(rows.key).toMatchObject({ team_id: systemTeamId, profile_id: null, scopes: 'admin', expires_at: null });
  });

  it('has the default of a setting that came after the team', () => {
    const { execution_retention_days, ...settings } = defaultSettings;
    expect(rowsAfter([{ ...created, settings }]).team).toMatchObject({ execution_retention_days });
  });

  it('has no name where it was erased or left out', () => {
    const rows = rowsAfter([
      { ...created, sealed: { redacted: true } },
      { ...profileCreated, sealed: { redacted: true } },
      { ...issued, sealed: {} },
    ]);
    expect([rows.team?.name, rows.profile?.name, rows.key?.name]).toEqual([null, null, null]);
  });
});
