import { rememberVersion, times, type Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface TraceBody {
  readonly kind: string;
  readonly id: string;
  readonly state: Record<string, unknown> & { readonly counters: Record<string, unknown> };
  readonly events: readonly {
    readonly type: string;
    readonly kind: string;
    readonly position: string;
    readonly revision: number;
    readonly actor: { readonly profile_id: string | null };
    readonly correlation_id: string;
    readonly content: Record<string, unknown> | null;
    readonly redacted: boolean;
    readonly data: Record<string, unknown>;
  }[];
  readonly next_cursor: string | null;
  readonly truncated: boolean;
  readonly complete_to_position: string;
}

describe('trace', () => {
  let service: TestService;
  let team: TestTeam;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
  });
  afterAll(() => service.stop());

  const trace = async (path: string, position: string, client = team.client) => {
    const answer = await client.get<TraceBody>(`${path}/trace?min_position=${position}`);
    expect(answer.status).toBe(200);
    return answer.body;
  };
  let versions = 0;
  const remember = (more: object = {}) =>
    team.client.post<Remembered>('/v1/procedures', {
      question: 'How do I refund an order?',
      version: `${(versions += 1)}`,
      graph: { steps: ['refund'] },
      run: { success: true, answer: 'refunded' },
      ...more,
    });

  it('tells everything that happened to a procedure and its runs, in order', async () => {
    const { body } = await remember({ review: true });
    const run = await team.client.post<Remembered>(`/v1/procedures/${body.procedure_id}/executions`, { success: false });
    await team.client.post(`/v1/executions/${run.body.execution_id}/feedback`, { worked: true, correctness: 1 });
    const approved = await team.client.post(
      `/v1/procedures/${body.procedure_id}/approve`,
      { reason: 'seen to work' },
      { headers: { 'x-correlation-id': 'ticket-7' } },
    );
    const told = await trace(`/v1/procedures/${body.procedure_id}`, approved.position);
    expect(told.events.map(({ type }) => type)).toEqual([
      'ExecutionRecorded',
      'ProcedureRemembered',
      'ExecutionRecorded',
      'ExecutionFeedbackRecorded',
      'ProcedureApproved',
    ]);
    expect(told.events.map(({ content }) => content)).toEqual([
      { answer: 'refunded' },
      {
        scope: 'default',
        question: 'How do I refund an order?',
        intent: null,
        graph: { steps: ['refund'] },
        version: `${versions}`,
      },
      null,
      null,
      { reason: 'seen to work' },
    ]);
    expect(told.events.at(-1)).toMatchObject({
      correlation_id: 'ticket-7',
      actor: { profile_id: team.profile },
      position: approved.position,
      revision: 1,
    });
    expect(told.state).toMatchObject({
      status: 'active',
      counters: { runs: 2, successes: 2, judged_runs: 1, judged_successes: 1 },
    });
    expect(told).toMatchObject({ kind: 'procedure', id: body.procedure_id, truncated: false, next_cursor: null });
  });

  it('agrees with the read model on the counters', async () => {
    const { id, position } = await rememberVersion(team.client, {
      version: 'counted',
      runs: [...times(3, true), ...times(2, false)],
    });
    const read = await team.client.get<{ counters: object }>(`/v1/procedures/${id}?min_position=${position}`);
    expect((await trace(`/v1/procedures/${id}`, position)).state.counters).toEqual(read.body.counters);
  });

  it('pages through events, says so, and gives the whole state on every page', async () => {
    const { id, position } = await rememberVersion(team.client, { version: 'paged', runs: times(5, true) });
    const seen: string[] = [];
    let cursor: string | null = '';
    do {
      const answer: { body: TraceBody } = await team.client.get<TraceBody>(
        `/v1/procedures/${id}/trace?max_events=2&min_position=${position}${cursor ? `&cursor=${cursor}` : ''}`,
      );
      const { body } = answer;
      expect(body.state).toMatchObject({ counters: { runs: 5 } });
      expect(body.truncated).toBe(body.next_cursor !== null);
      seen.push(...body.events.map((event) => event.position));
      cursor = body.next_cursor;
    } while (cursor);
    expect(seen).toHaveLength(6);
    expect(new Set(seen).size).toBe(6);
  });

  it('tells of one run', async () => {
    const { body } = await remember({ run: { success: false, answer: 'nothing found', occurred_at: '2026-01-02T03:04:05Z' } });
    const { position } = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: true });
    const told = await trace(`/v1/executions/${body.execution_id}`, position);
    expect(told.state).toMatchObject({
      agent_success: false,
      evaluator_success: null,
      feedback_worked: true,
      source: 'feedback',
      success: true,
      pruned: false,
    });
    expect(told.events.map(({ type }) => type)).toEqual(['ExecutionRecorded', 'ExecutionFeedbackRecorded']);
    expect(told.events[0]).toMatchObject({ occurred_at: '2026-01-02T03:04:05.000Z', content: { answer: 'nothing found' } });
  });

  it('shows an auditor what happened, and not what was written', async () => {
    const { body, position } = await remember();
    const auditor = await team.clientWith(['audit:read']);
    const told = await trace(`/v1/procedures/${body.procedure_id}`, position, auditor);
    expect(told.events.map(({ type, content }) => [type, content])).toEqual([
      ['ExecutionRecorded', null],
      ['ProcedureRemembered', null],
    ]);
    expect(told.state).toMatchObject({ status: 'active', content: null, counters: { runs: 1 } });
    expect(JSON.stringify(told)).not.toContain('refund');
  });

  it('keeps the history of what was erased, without its content', async () => {
    const { body } = await remember();
    const { position } = await team.client.delete(`/v1/procedures/${body.procedure_id}`);
    const told = await trace(`/v1/procedures/${body.procedure_id}`, position);
    expect(told.events.map(({ type, redacted, content }) => [type, redacted, content])).toEqual([
      ['ExecutionRecorded', true, null],
      ['ProcedureRemembered', true, null],
      ['ProcedureErased', false, null],
    ]);
    expect(told.state).toMatchObject({ status: 'erased', content: null });
    expect(JSON.stringify(told)).not.toContain('refund');
  });

  it('says up to where it is complete', async () => {
    const { body, position } = await remember();
    const told = await trace(`/v1/procedures/${body.procedure_id}`, position);
    expect(told.complete_to_position).toBe(position);
  });
});
