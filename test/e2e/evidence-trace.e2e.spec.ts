import { EvidenceClient, type Problem } from '../support/evidence.js';
import type { Client } from '../support/http.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface TraceBody extends Problem {
  readonly kind: string;
  readonly id: string;
  readonly state: Readonly<Record<string, unknown>> & { readonly status: string };
  readonly events: readonly {
    readonly type: string;
    readonly id: string;
    readonly position: string;
    readonly actor: { readonly profile_id: string | null };
    readonly content: Readonly<Record<string, unknown>> | null;
    readonly redacted: boolean;
    readonly data: Readonly<Record<string, unknown>>;
    readonly occurred_at: string | null;
  }[];
  readonly next_cursor: string | null;
  readonly truncated: boolean;
}

describe('the trace of evidence and sources', () => {
  let service: TestService;
  let team: TestTeam;
  let evidence: EvidenceClient;
  let texts = 0;
  const remembered = (more: object = {}) => evidence.remembered({ content: `Text number ${(texts += 1)}.`, ...more });

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    evidence = new EvidenceClient(team.client);
  });
  afterAll(() => service.stop());

  const trace = async (
    kind: 'evidence' | 'sources',
    id: string,
    query: Record<string, string> = {},
    client: Client = team.client,
  ) => (await client.get<TraceBody>(`/v1/${kind}/${id}/trace?${new URLSearchParams(query).toString()}`)).body;

  it('tells everything that happened, in order, with who and why', async () => {
    const stranger = await team.newProfile('Stranger');
    const other = new EvidenceClient(await team.clientWith(['memory:write'], stranger));
    const { id } = await remembered({ occurred_at: '2026-01-31T12:00:00Z', external_id: 'a', labels: ['x'] });
    await evidence.change(id, 'announce-supersession', { reason: 'soon' });
    await other.change(id, 'quarantine', { reason: 'looks forged' });
    const { position } = await other.change(id, 'release');
    const traced = await trace('evidence', id, { min_position: position });
    expect(traced.events.map(({ type, actor, content }) => [type, actor.profile_id, content?.reason])).toEqual([
      ['EvidenceRemembered', team.profile, undefined],
      ['EvidenceSupersessionAnnounced', team.profile, 'soon'],
      ['EvidenceQuarantined', stranger, 'looks forged'],
      ['EvidenceReleased', stranger, null],
    ]);
    expect(traced.events[0]).toMatchObject({
      occurred_at: '2026-01-31T12:00:00.000Z',
      content: { external_id: 'a', labels: ['x'] },
    });
    expect(traced).toMatchObject({ kind: 'evidence', id, next_cursor: null, truncated: false });
    expect(traced.state).toMatchObject({
      status: 'supersession_pending',
      profile_id: team.profile,
      external_ids: ['a'],
      content: { labels: ['x'] },
      facts: { occurred_at: '2026-01-31T12:00:00.000Z', source_id: null },
      source: null,
      revision_current: true,
    });
  });

  it('shows the state as of any of its moments', async () => {
    const { id, position } = await remembered();
    const moments = [position];
    for (const change of ['quarantine', 'release', 'announce-supersession', 'retract'])
      moments.push((await evidence.change(id, change)).position);
    const states = [];
    for (const at_position of moments) states.push((await trace('evidence', id, { at_position })).state.status);
    expect(states).toEqual(['current', 'quarantined', 'current', 'supersession_pending', 'retracted']);
    expect((await trace('evidence', id, { at_position: moments[1] ?? '' })).events).toHaveLength(2);
    const before = await team.client.get(`/v1/evidence/${id}/trace?known_at=2020-01-01T00:00:00Z`);
    expect(before.status).toBe(404);
  });

  it('shows what replaced it, and what it replaced, as far as it went', async () => {
    const line = [];
    for (let step = 0; step < 6; step += 1) line.push((await remembered()).id);
    let position = '';
    for (let step = 0; step < 5; step += 1)
      ({ position } = await evidence.change(line[step] ?? '', 'supersede', { replacement_id: line[step + 1] }));
    const first = await trace('evidence', line[0] ?? '', { min_position: position });
    expect(first.state).toMatchObject({
      status: 'superseded',
      replacement_id: line[1],
      superseded_by: line.slice(1, 5),
      supersedes: [],
    });
    const middle = await trace('evidence', line[3] ?? '');
    expect(middle.state).toMatchObject({ superseded_by: line.slice(4), supersedes: [line[2]] });
    expect(middle.events.map(({ type, id }) => [type, id])).toEqual([
      ['EvidenceRemembered', line[3]],
      ['EvidenceSuperseded', line[2]],
      ['EvidenceSuperseded', line[3]],
    ]);
    const last = await trace('evidence', line[5] ?? '');
    expect(last.state).toMatchObject({ status: 'current', superseded_by: [], supersedes: [line[4]] });
  });

  it('shows the publications of its source, as they were known', async () => {
    const source_key = 'traced source';
    const { id, source, position } = await remembered({ source_key, source_revision: 'r1' });
    const first = await evidence.publish(source_key, 'r1');
    const second = await evidence.publish(source_key, 'r2');
    const stateAt = async (at_position: string) => (await trace('evidence', id, { at_position })).state;
    expect(await stateAt(position)).toMatchObject({
      revision_current: true,
      source: { source_id: source, status: 'none', number: 0 },
    });
    expect(await stateAt(first.position)).toMatchObject({
      revision_current: true,
      source: { current_revision: 'r1', number: 1 },
    });
    expect(await stateAt(second.position)).toMatchObject({
      revision_current: false,
      source: {
        status: 'published',
        key: source_key,
        current_revision: 'r2',
        number: 2,
        revisions: [
          { number: 1, revision: 'r1', profile_id: team.profile },
          { number: 2, revision: 'r2', profile_id: team.profile },
        ],
        revisions_truncated: false,
      },
    });
    const traced = await trace('sources', source);
    expect(traced.events.map(({ type, data, content }) => [type, data.number, content?.revision])).toEqual([
      ['SourceRevisionPublished', 1, 'r1'],
      ['SourceRevisionPublished', 2, 'r2'],
    ]);
    expect(traced.state).toMatchObject({ source_id: source, status: 'published', current_revision: 'r2' });
    const erased = await team.client.delete(`/v1/sources/${source}`);
    for (const at_position of [first.position, erased.position]) {
      const gone = await trace('sources', source, { at_position });
      expect(gone.state).toMatchObject({ status: 'erased', key: null, revisions: [] });
      expect(gone.events[0]).toMatchObject({ content: null, redacted: true });
    }
    expect((await trace('evidence', id)).state).toMatchObject({ source: { status: 'erased', key: null } });
  });

  it('shows an auditor what happened, and nothing that was written', async () => {
    const { id, source } = await remembered({ source_key: 'audited', source_revision: 'r1', external_id: 'handle' });
    await evidence.publish('audited', 'r1');
    const { position } = await evidence.change(id, 'quarantine', { reason: 'secret' });
    const auditor = await team.clientWith(['audit:read']);
    const traced = await trace('evidence', id, { min_position: position }, auditor);
    expect(traced.events.map(({ type, content, redacted }) => [type, content, redacted])).toEqual([
      ['EvidenceRemembered', null, false],
      ['EvidenceQuarantined', null, false],
    ]);
    expect(traced.state).toMatchObject({ status: 'quarantined', content: null, external_ids: [], revision_current: null });
    expect(traced.state.source).toMatchObject({ key: null, current_revision: null, number: 1 });
    expect(JSON.stringify([traced, await trace('sources', source, {}, auditor)])).not.toMatch(
      /Text number|audited|r1|handle|secret/,
    );
    const reader = await team.clientWith(['memory:write']);
    expect((await reader.get(`/v1/evidence/${id}/trace`)).status).toBe(403);
  });

  it('of what was erased is a tombstone, at every moment', async () => {
    const { id, position } = await remembered({ external_id: 'handle' });
    await evidence.change(id, 'quarantine', { reason: 'secret' });
    const erased = await evidence.erase(id);
    for (const at_position of [position, erased.position]) {
      const traced = await trace('evidence', id, { at_position, min_position: erased.position });
      expect(traced.state).toMatchObject({ status: 'erased', content: null, facts: null, external_ids: [] });
      expect(traced.events.filter(({ content }) => content !== null)).toEqual([]);
    }
    const traced = await trace('evidence', id);
    expect(traced.events.map(({ type, redacted }) => [type, redacted])).toEqual([
      ['EvidenceRemembered', true],
      ['EvidenceQuarantined', true],
      ['EvidenceErased', false],
    ]);
  });

  it('comes in pages', async () => {
    const { id } = await remembered();
    for (const change of ['quarantine', 'release', 'quarantine', 'release']) await evidence.change(id, change);
    const { position } = await evidence.change(id, 'retract');
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: TraceBody = await trace('evidence', id, {
        max_events: '2',
        min_position: position,
        ...(cursor === null ? {} : { cursor }),
      });
      expect(page.state.status).toBe('retracted');
      seen.push(...page.events.map(({ type }) => type));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toHaveLength(6);
    expect(new Set(seen)).toEqual(
      new Set(['EvidenceRemembered', 'EvidenceQuarantined', 'EvidenceReleased', 'EvidenceRetracted']),
    );
  });

  it('is of its own kind only', async () => {
    const { id, source } = await remembered({ source_key: 'kinds', source_revision: 'r1' });
    const { position } = await evidence.publish('kinds', 'r1');
    expect((await team.client.get(`/v1/sources/${id}/trace?min_position=${position}`)).status).toBe(404);
    expect((await team.client.get(`/v1/evidence/${source}/trace`)).status).toBe(404);
    expect((await team.client.get(`/v1/procedures/${id}/trace`)).status).toBe(404);
    expect((await team.client.get(`/v1/evidence/${team.profile}/trace`)).status).toBe(404);
  });
});
