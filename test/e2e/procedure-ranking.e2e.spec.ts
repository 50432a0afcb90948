import { times, rememberVersion, type Recalled } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const question = 'How do I refund an order?';
const farther = 'How do I refund an order for a customer?';
const closer = 'How do I refund an order I shipped?';

/** Every golden value of the procedure ranking, over HTTP, with a clock that stands still. */
describe('recalling procedures', () => {
  let service: TestService;
  let team: TestTeam;
  const now = new Date('2026-06-01T12:00:00Z');
  const at = (daysAgo: number) => new Date(now.getTime() - daysAgo * 86_400_000).toISOString();
  let scopes = 0;
  const newScope = () => `scope-${(scopes += 1)}`;

  beforeAll(async () => {
    service = await startTestService();
    service.clock.set(now);
    team = await newTeam(service);
  });
  afterAll(() => service.stop());

  const recall = async (scope: string, min_position: string, more: object = {}) => {
    const answer = await team.client.post<Recalled>('/v1/procedures/recall', { question, scope, min_position, top: 10, ...more });
    expect(answer.status).toBe(200);
    return answer.body.matches;
  };
  const only = async (scope: string, position: string) => {
    const [match, ...others] = await recall(scope, position);
    expect(others).toEqual([]);
    if (!match) throw new Error('no match');
    return match;
  };
  const judge = async (id: string, worked: boolean) => {
    const run = await team.client.post<{ execution_id: string }>(`/v1/procedures/${id}/executions`, {
      success: true,
      occurred_at: at(0),
    });
    return (await team.client.post(`/v1/executions/${run.body.execution_id}/feedback`, { worked })).position;
  };

  it('gives a new procedure with one agent-only success .545', async () => {
    const scope = newScope();
    const { position } = await rememberVersion(team.client, { scope, occurred_at: at(0) });
    const match = await only(scope, position);
    expect(match.success_rate).toBeCloseTo(0.545, 3);
    expect(match.evidence).toEqual({ runs: 1, judged_runs: 0, uses_parent_prior: false });
  });

  it('gives one judged success .583', async () => {
    const scope = newScope();
    const { body } = await team.client.post<{ execution_id: string }>('/v1/procedures', {
      question: farther,
      scope,
      graph: {},
      run: { success: true, occurred_at: at(0) },
    });
    const { position } = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: true });
    const match = await only(scope, position);
    expect(match.success_rate).toBeCloseTo(0.583, 3);
    expect(match.evidence).toMatchObject({ runs: 1, judged_runs: 1 });
  });

  it('gives 20 agent-only successes out of 20 .833, and a child of it with one success .848', async () => {
    const scope = newScope();
    const parent = await rememberVersion(team.client, { scope, runs: times(20, true), occurred_at: at(0) });
    const child = await rememberVersion(team.client, { scope, version: '1.1', parent_id: parent.id, occurred_at: at(0) });
    const [first, second] = await recall(scope, child.position);
    expect([first?.procedure.version, second?.procedure.version]).toEqual(['1.1', '1.0']);
    expect(first?.success_rate).toBeCloseTo(0.848, 3);
    expect(first?.evidence.uses_parent_prior).toBe(true);
    expect(second?.success_rate).toBeCloseTo(0.833, 3);
  });

  it('gives the same child .545 when it names no parent', async () => {
    const scope = newScope();
    await rememberVersion(team.client, { scope, runs: times(20, true), occurred_at: at(0) });
    const orphan = await rememberVersion(team.client, { scope, version: '1.1', occurred_at: at(0) });
    const matches = await recall(scope, orphan.position);
    const match = matches.find(({ procedure }) => procedure.version === '1.1');
    expect(match?.success_rate).toBeCloseTo(0.545, 3);
    expect(match?.total).toBeCloseTo(0.772, 3);
  });

  const workedExample = async (scope: string, newVersionRuns: readonly boolean[] = [true]) => {
    const original = await rememberVersion(team.client, { scope, runs: times(20, true), occurred_at: at(0) });
    await rememberVersion(team.client, {
      scope,
      version: '1.1',
      parent_id: original.id,
      runs: newVersionRuns,
      occurred_at: at(0),
      graph: { steps: ['check', 'refund'] },
    });
    const close = await rememberVersion(team.client, {
      scope,
      question: closer,
      runs: [...times(5, true), ...times(5, false)],
      occurred_at: at(0),
    });
    return { matches: await recall(scope, close.position), original, close };
  };
  const rounded = (matches: Recalled['matches']) =>
    matches.map(({ similarity, success_rate, freshness, total }) =>
      [similarity, success_rate, freshness, total].map((part) => Number(part.toFixed(3))),
    );

  it('ranks the worked example .863, .858, .802', async () => {
    const { matches } = await workedExample(newScope());
    expect(rounded(matches)).toEqual([
      [0.816, 0.848, 1, 0.863],
      [0.816, 0.833, 1, 0.858],
      [0.904, 0.5, 1, 0.802],
    ]);
    expect(matches.map(({ similarity }) => similarity.toFixed(4))).toEqual(['0.8165', '0.8165', '0.9037']);
    expect(matches.map(({ rank_position }) => rank_position)).toEqual([1, 2, 3]);
  });

  it('puts the new version last at .783 after five agent-only failures in a row', async () => {
    const { matches } = await workedExample(newScope(), [true, ...times(5, false)]);
    expect(matches.map(({ procedure }) => procedure.version)).toEqual(['1.0', '1.0', '1.1']);
    expect(matches[2]?.total).toBeCloseTo(0.783, 3);
  });

  it('halves freshness every 30 days, and takes a run in the future for fresh', async () => {
    const scope = newScope();
    const days = [0, 30, 60, 90, -1];
    let last = '';
    for (const [index, daysAgo] of days.entries()) {
      last = (await rememberVersion(team.client, { scope, version: `${index}`, occurred_at: at(daysAgo) })).position;
    }
    const matches = await recall(scope, last);
    const freshness = new Map(matches.map((match) => [match.procedure.version, match.freshness]));
    expect(days.map((_, index) => freshness.get(`${index}`))).toEqual([1, 0.5, 0.25, 0.125, 1]);
  });

  it('counts from the latest run, in whatever order runs are recorded', async () => {
    const scope = newScope();
    const { id } = await rememberVersion(team.client, { scope, occurred_at: at(30) });
    const { position } = await team.client.post(`/v1/procedures/${id}/executions`, { success: true, occurred_at: at(90) });
    expect((await only(scope, position)).freshness).toBeCloseTo(0.5, 9);
  });

  it('ranks a version as a root once its parent is erased', async () => {
    const scope = newScope();
    const parent = await rememberVersion(team.client, { scope, runs: times(20, true), occurred_at: at(0) });
    await rememberVersion(team.client, { scope, version: '1.1', parent_id: parent.id, occurred_at: at(0) });
    const { position } = await team.client.delete(`/v1/procedures/${parent.id}`);
    const match = await only(scope, position);
    expect(match.success_rate).toBeCloseTo(0.545, 3);
    expect(match.evidence.uses_parent_prior).toBe(false);
  });

  it('keeps the prior of an archived parent', async () => {
    const scope = newScope();
    const parent = await rememberVersion(team.client, { scope, runs: times(20, true), occurred_at: at(0) });
    await rememberVersion(team.client, { scope, version: '1.1', parent_id: parent.id, occurred_at: at(0) });
    const { position } = await team.client.post(`/v1/procedures/${parent.id}/archive`);
    expect((await only(scope, position)).success_rate).toBeCloseTo(0.848, 3);
  });

  it('does not drag a fix down with its failing parent', async () => {
    const scope = newScope();
    const parent = await rememberVersion(team.client, { scope, runs: times(20, false), occurred_at: at(0) });
    const fix = await rememberVersion(team.client, { scope, version: '1.1', parent_id: parent.id, occurred_at: at(0) });
    const [first] = await recall(scope, fix.position);
    expect(first?.procedure.version).toBe('1.1');
    expect(first?.success_rate).toBeCloseTo(0.545, 3);
  });

  it('lets a person pull a rate down as hard as lift it', async () => {
    const scope = newScope();
    const { id } = await rememberVersion(team.client, { scope, occurred_at: at(0) });
    const position = await judge(id, false);
    // (.5 agent success + 2.5) / (1.5 weighted runs + 5)
    expect((await only(scope, position)).success_rate).toBeCloseTo(3 / 6.5, 9);
  });

  it('sorts equal totals by id, every time the same way', async () => {
    const scope = newScope();
    const ids: string[] = [];
    let last = '';
    for (const version of ['a', 'b', 'c']) {
      const remembered = await rememberVersion(team.client, { scope, version, occurred_at: at(0) });
      ids.push(remembered.id);
      last = remembered.position;
    }
    expect((await recall(scope, last)).map(({ procedure }) => procedure.procedure_id)).toEqual(ids.sort());
  });

  it('drops what is less similar than the cut-off, whatever its record, and says that the floor emptied the list', async () => {
    const scope = newScope();
    const { position } = await rememberVersion(team.client, {
      scope,
      question: 'Where is the nearest warehouse?',
      occurred_at: at(0),
    });
    const answer = await team.client.post<Recalled>('/v1/procedures/recall', { question, scope, min_position: position });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ matches: [], abstained: true, abstention_reason: 'evidence_floor' });
    expect(await recall(scope, position, { min_similarity: 0 })).toHaveLength(1);
  });

  it('answers an empty scope with an empty list', async () => {
    const answer = await team.client.post<Recalled>('/v1/procedures/recall', { question, scope: newScope() });
    expect(answer.body).toMatchObject({ matches: [], abstained: true, abstention_reason: 'no_candidates' });
  });

  it('returns three matches unless told otherwise, and sees beyond them before it ranks', async () => {
    const scope = newScope();
    let last = '';
    for (const version of ['a', 'b', 'c', 'd'])
      last = (
        await rememberVersion(team.client, { scope, version, occurred_at: at(0), runs: times(version === 'd' ? 9 : 1, true) })
      ).position;
    const answer = await team.client.post<Recalled>('/v1/procedures/recall', { question, scope, min_position: last });
    expect(answer.body.matches).toHaveLength(3);
    expect(answer.body.matches[0]?.procedure.version).toBe('d');
  });
});

describe('with a similarity that does not count', () => {
  it('sorts equal totals by similarity, before id', async () => {
    const service = await startTestService({
      settings: {
        MNEME_RANKING_SIMILARITY_WEIGHT: '0',
        MNEME_RANKING_SUCCESS_RATE_WEIGHT: '0.5',
        MNEME_RANKING_FRESHNESS_WEIGHT: '0.5',
      },
    });
    try {
      const { client } = await newTeam(service);
      const occurred_at = '2026-06-01T12:00:00Z';
      for (const version of ['1', '2', '3', '4']) await rememberVersion(client, { version, occurred_at });
      const { id, position } = await rememberVersion(client, { question: closer, occurred_at });
      const { body } = await client.post<Recalled>('/v1/procedures/recall', { question, top: 10, min_position: position });
      expect(new Set(body.matches.map(({ total }) => total)).size).toBe(1);
      expect(body.matches[0]?.procedure.procedure_id).toBe(id);
      expect(body.matches.slice(1).map(({ procedure }) => procedure.procedure_id)).toEqual(
        body.matches
          .slice(1)
          .map(({ procedure }) => procedure.procedure_id)
          .sort(),
      );
    } finally {
      await service.stop();
    }
  });
});

describe('with another weight of the agent’s verdict', () => {
  const rateWith = async (weight: string): Promise<number | undefined> => {
    const service = await startTestService({ settings: { MNEME_RANKING_AGENT_VERDICT_WEIGHT: weight } });
    try {
      const { client } = await newTeam(service);
      const { position } = await rememberVersion(client, { runs: times(4, true) });
      const { body } = await client.post<Recalled>('/v1/procedures/recall', { question, min_position: position });
      return body.matches[0]?.success_rate;
    } finally {
      await service.stop();
    }
  };

  it('1 restores the plain rate', async () => expect(await rateWith('1')).toBeCloseTo((4 + 2.5) / (4 + 5), 9));
  it('0 leaves a procedure that nobody judged at its prior', async () => expect(await rateWith('0')).toBe(0.5));
});
