import { expectGolden } from '../../test/support/golden.js';
import { EventCatalogue } from '../event-log/event-catalogue.js';
import { accessEvents, operatorStream, type TeamEvent, teamStream } from './team.js';

const team = '6f1c3f4e-3f2d-4f0e-9c0b-1d2a3b4c5d6e';
const profile_id = 'a3c6f0de-5a31-4f60-8d8d-0d2f5f1f9b11';
const key_id = 'e0d7a2b4-8c59-4a36-9a3e-6f5b7c1d2e33';
const catalogue = new EventCatalogue([accessEvents]);

const settings = { review: true, language: 'english', recording: false } as const;

describe('the events of access', () => {
  it.each<[variant: string, event: TeamEvent]>([
    [
      'retention',
      {
        type: 'TeamCreated',
        team_id: team,
        settings: { ...settings, execution_retention_days: 90 },
        sealed: { name: 'Support' },
      },
    ],
    ['retention', { type: 'TeamSettingsChanged', settings: { execution_retention_days: 90 } }],
    ['retention-off', { type: 'TeamSettingsChanged', settings: { execution_retention_days: null } }],
  ])('with a setting that came later are read as they were stored: %s, $type', async (variant, event) => {
    await expectGolden(catalogue, { event, variant, stream: teamStream(team) });
  });

  it.each<TeamEvent>([
    { type: 'TeamCreated', team_id: team, settings, sealed: { name: 'Support' } },
    { type: 'TeamSettingsChanged', settings: { language: 'german' } },
    { type: 'ProfileCreated', profile_id, sealed: { name: 'refund-agent' } },
    { type: 'ProfileDeactivated', profile_id },
    { type: 'ProfileReactivated', profile_id },
    {
      type: 'ApiKeyIssued',
      key_id,
      profile_id,
      scopes: ['memory:read', 'memory:write'],
      expires_at: '2027-01-01T00:00:00.000Z',
      sealed: { name: 'ci' },
    },
    { type: 'ApiKeyRevoked', key_id },
  ])('are read as they were stored: $type', async (event) => {
    await expectGolden(catalogue, { event, stream: teamStream(team) });
  });

  it('name no team in the stream of operator keys', () => {
    expect(operatorStream).toEqual({ kind: 'team', team: 'system', id: 'operators' });
  });
});
