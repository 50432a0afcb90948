import { rememberVersion, type Recalled, type Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const question = 'How do I refund an order?';
const unknown = '00000000-0000-4000-8000-00000000dead';

describe('procedures over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  let scopes = 0;
  const newScope = () => `scope-${(scopes += 1)}`;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
  });
  afterAll(() => service.stop());

  const recall = async (scope: string, min_position: string, more: object = {}) =>
    (await team.client.post<Recalled>('/v1/procedures/recall', { question, scope, min_position, ...more })).body.matches;
  const remember = (body: object, headers: Record<string, string> = {}) =>
    team.client.post<Remembered>(
      '/v1/procedures',
      { question, graph: { steps: ['a'] }, run: { success: true }, ...body },
      { headers },
    );
  const details = async (id: string, min_position: string) =>
    (await team.client.get(`/v1/procedures/${id}?min_position=${min_position}`)).body;

  describe('remembering', () => {
    it('makes a version with its first run, and tells where it stands', async () => {
      const answer = await remember({
        scope: newScope(),
        version: '2.0',
        intent: 'refund',
        run: { success: true, answer: 'done' },
      });
      expect(answer.status).toBe(201);
      expect(answer.body).toEqual({
        procedure_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        execution_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
        created: true,
        status: 'active',
        source: 'agent',
        success: true,
      });
      expect(answer.headers.get('etag')).toBe('"0"');
      expect(await details(answer.body.procedure_id, answer.position)).toMatchObject({
        question,
        intent: 'refund',
        version: '2.0',
        graph: { steps: ['a'] },
        status: 'active',
        parent_id: null,
        profile_id: team.profile,
        revision: 0,
        counters: { runs: 1, successes: 1, judged_runs: 0, judged_successes: 0 },
      });
    });

    it('records another run when the same version comes again, and makes no duplicate', async () => {
      const scope = newScope();
      const first = await remember({ scope });
      const second = await remember({ scope, run: { success: false } });
      expect(second.status).toBe(200);
      expect(second.body).toMatchObject({ procedure_id: first.body.procedure_id, created: false, success: false });
      expect(second.body.execution_id).not.toBe(first.body.execution_id);
      expect(await details(first.body.procedure_id, second.position)).toMatchObject({ counters: { runs: 2, successes: 1 } });
    });

    it.each([
      ['scope', { scope: 'other-scope' }],
      ['question', { question: 'How do I refund two orders?' }],
      ['version label', { version: '9' }],
      ['graph', { graph: { steps: ['b'] } }],
    ])('takes another %s for another version', async (_, difference) => {
      const scope = newScope();
      const first = await remember({ scope });
      const second = await remember({ scope, ...difference });
      expect(second.status).toBe(201);
      expect(second.body.procedure_id).not.toBe(first.body.procedure_id);
    });

    it('knows a graph again whose keys come in another order', async () => {
      const scope = newScope();
      const first = await remember({ scope, graph: { a: 1, b: { c: 2, d: 3 } } });
      const second = await remember({ scope, graph: { b: { d: 3, c: 2 }, a: 1 } });
      expect(second.body.procedure_id).toBe(first.body.procedure_id);
    });

    it('answers a repeated Idempotency-Key with the first receipt and records nothing more', async () => {
      const scope = newScope();
      const headers = { 'idempotency-key': `remember-${scope}` };
      const first = await remember({ scope }, headers);
      const again = await remember({ scope }, headers);
      expect(again.body).toEqual(first.body);
      expect(again.status).toBe(first.status);
      expect(again.position).toBe(first.position);
      expect(await details(first.body.procedure_id, again.position)).toMatchObject({ counters: { runs: 1 } });
    });

    it('refuses a key that was used for another version', async () => {
      const scope = newScope();
      const headers = { 'idempotency-key': `reused-${scope}` };
      await remember({ scope }, headers);
      const again = await remember({ scope, version: '3' }, headers);
      expect(again.status).toBe(422);
      expect(again.body).toMatchObject({ code: 'idempotency_key_reused' });
    });

    it('holds a caller to the version it saw', async () => {
      const scope = newScope();
      const stale = await remember({ scope }, { 'if-match': '"0"' });
      expect(stale.status).toBe(404);
      const { body } = await remember({ scope });
      const wrong = { headers: { 'if-match': '"5"' } };
      expect((await remember({ scope }, { 'if-match': '"5"' })).status).toBe(412);
      expect((await team.client.post(`/v1/procedures/${body.procedure_id}/executions`, { success: true }, wrong)).status).toBe(
        412,
      );
      expect((await remember({ scope }, { 'if-match': '"0"' })).status).toBe(200);
    });

    it('lets ten equal commands at once meet in one version and one run', async () => {
      const scope = newScope();
      const headers = { 'idempotency-key': `at-once-${scope}` };
      const answers = await Promise.all(Array.from({ length: 10 }, () => remember({ scope }, headers)));
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
      const [first] = answers;
      if (!first) throw new Error('no answer');
      expect(await details(first.body.procedure_id, first.position)).toMatchObject({ counters: { runs: 1 } });
    });

    it('lets ten different commands at once meet in one version with ten runs', async () => {
      const scope = newScope();
      const answers = await Promise.all(Array.from({ length: 10 }, () => remember({ scope })));
      expect(new Set(answers.map(({ body }) => body.procedure_id)).size).toBe(1);
      expect(answers.filter(({ body }) => body.created)).toHaveLength(1);
      const heads = await Promise.all(answers.map(({ body, position }) => details(body.procedure_id, position)));
      const after = await details(answers[0]?.body.procedure_id ?? '', answers[0]?.position ?? '');
      expect(heads).toHaveLength(10);
      expect(after).toMatchObject({ counters: { runs: 10, successes: 10 } });
    });

    it('needs a parent of the same scope', async () => {
      const parent = await rememberVersion(team.client, { scope: newScope() });
      const elsewhere = await remember({ scope: newScope(), parent_id: parent.id });
      expect([elsewhere.status, elsewhere.body]).toEqual([
        422,
        expect.objectContaining({ code: 'parent_in_other_scope', field: 'parent_id' }),
      ]);
      const nowhere = await remember({ scope: newScope(), parent_id: unknown });
      expect([nowhere.status, nowhere.body]).toEqual([
        422,
        expect.objectContaining({ code: 'parent_not_found', field: 'parent_id' }),
      ]);
    });

    it('starts pending where the team asks for review', async () => {
      const careful = await newTeam(service);
      const asked = await service.operator.patch(`/v1/teams/${careful.id}/settings`, { review: true });
      // The setting is read from a read model: it holds for what is sent once that has reached it.
      await service.operator.get(`/v1/teams?min_position=${asked.position}`);
      const { body, position } = await careful.client.post<Remembered>('/v1/procedures', {
        question,
        graph: {},
        run: { success: true },
      });
      expect(body.status).toBe('pending_review');
      const recalled = await careful.client.post<Recalled>('/v1/procedures/recall', { question, min_position: position });
      expect(recalled.body.matches).toEqual([]);
    });

    it('keeps any JSON in the graph, and texts of any script', async () => {
      const graph = { 数: [1, null, true, 1.5e-7], '': { constructor: 'x', toString: [] }, emoji: '🧠' };
      const { body, position } = await remember({ scope: newScope(), question: '注文を返金するには? ﷽', graph });
      expect(await details(body.procedure_id, position)).toMatchObject({ graph, question: '注文を返金するには? ﷽' });
    });

    it('loses an answer that cannot be judged, and nothing else', async () => {
      for (const answer of ['   ', 'x'.repeat(32_001), 'x'.repeat(500_000)]) {
        const { status, body, position } = await remember({ scope: newScope(), run: { success: true, answer } });
        expect(status).toBe(201);
        const trace = await team.client.get<{ events: { content: unknown }[] }>(
          `/v1/executions/${body.execution_id}/trace?min_position=${position}`,
        );
        expect(trace.body.events[0]?.content).toBeNull();
      }
    });
  });

  describe('review and retirement', () => {
    const pending = async () => {
      const scope = newScope();
      const { body, position } = await remember({ scope, review: true });
      return { scope, id: body.procedure_id, position };
    };

    it('lists what waits for review', async () => {
      const { scope, id, position } = await pending();
      const list = await team.client.get<{ items: { procedure_id: string }[] }>(
        `/v1/procedures?status=pending_review&scope=${scope}&min_position=${position}`,
      );
      expect(list.body.items.map(({ procedure_id }) => procedure_id)).toEqual([id]);
    });

    it('approves one version and no other', async () => {
      const { scope, id } = await pending();
      const other = await remember({ scope, review: true, version: '1.1' });
      const { body, position } = await team.client.post(`/v1/procedures/${id}/approve`, { reason: 'works' });
      expect(body).toEqual({ procedure_id: id, status: 'active' });
      expect((await recall(scope, position)).map(({ procedure }) => procedure.procedure_id)).toEqual([id]);
      expect(await details(other.body.procedure_id, position)).toMatchObject({ status: 'pending_review' });
    });

    it('rejects, and never offers it', async () => {
      const { scope, id } = await pending();
      const { position } = await team.client.post(`/v1/procedures/${id}/reject`);
      expect(await recall(scope, position)).toEqual([]);
      const again = await team.client.post(`/v1/procedures/${id}/approve`);
      expect([again.status, again.body]).toEqual([422, expect.objectContaining({ code: 'not_pending_review' })]);
    });

    it('archives and restores', async () => {
      const scope = newScope();
      const { id } = await rememberVersion(team.client, { scope });
      const archived = await team.client.post(`/v1/procedures/${id}/archive`);
      expect(await recall(scope, archived.position)).toEqual([]);
      const restored = await team.client.post(`/v1/procedures/${id}/restore`);
      expect(await recall(scope, restored.position)).toHaveLength(1);
    });

    it('holds a caller to the version it saw', async () => {
      const { id } = await pending();
      const stale = await team.client.post(`/v1/procedures/${id}/approve`, {}, { headers: { 'if-match': '"7"' } });
      expect([stale.status, stale.body, stale.headers.get('etag')]).toEqual([
        412,
        expect.objectContaining({ code: 'version_conflict', current_version: 0 }),
        '"0"',
      ]);
      const fresh = await team.client.post(`/v1/procedures/${id}/approve`, {}, { headers: { 'if-match': '"0"' } });
      expect([fresh.status, fresh.headers.get('etag')]).toEqual([200, '"1"']);
    });

    it('lets one of two writers win, and tells the other the version', async () => {
      const { id } = await pending();
      const headers = { 'if-match': '"0"' };
      const answers = await Promise.all([
        team.client.post(`/v1/procedures/${id}/approve`, {}, { headers }),
        team.client.post(`/v1/procedures/${id}/reject`, {}, { headers }),
      ]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412]);
      expect(answers.find(({ status }) => status === 412)?.body).toMatchObject({ current_version: 1 });
    });

    it('pages through the list, each version once', async () => {
      const scope = newScope();
      let last = '';
      for (const version of ['a', 'b', 'c', 'd', 'e']) last = (await rememberVersion(team.client, { scope, version })).position;
      const seen: string[] = [];
      let cursor = '';
      do {
        const { body } = await team.client.get<{ items: { version: string }[]; next_cursor: string | null }>(
          `/v1/procedures?scope=${scope}&limit=2&min_position=${last}${cursor}`,
        );
        seen.push(...body.items.map(({ version }) => version));
        cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`;
      } while (cursor !== '');
      expect(seen).toEqual(['e', 'd', 'c', 'b', 'a']);
    });
  });

  describe('runs and feedback', () => {
    it('shows the verdict that counts', async () => {
      const { body } = await remember({ scope: newScope() });
      const feedback = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, {
        worked: false,
        correctness: 0.25,
      });
      expect([feedback.status, feedback.body]).toEqual([
        201,
        { execution_id: body.execution_id, procedure_id: body.procedure_id, source: 'feedback', success: false },
      ]);
      const run = await team.client.get(`/v1/executions/${body.execution_id}?min_position=${feedback.position}`);
      expect(run.body).toMatchObject({ source: 'feedback', success: false, judged: true, correctness: 0.25, completeness: null });
    });

    it('keeps the verdict when feedback says null', async () => {
      const { body } = await remember({ scope: newScope() });
      await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: false });
      const feedback = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: null, usefulness: 1 });
      expect(feedback.body).toMatchObject({ source: 'feedback', success: false });
      expect(await details(body.procedure_id, feedback.position)).toMatchObject({ counters: { successes: 0, judged_runs: 1 } });
    });

    it('moves the counters when the verdict changes', async () => {
      const { body } = await remember({ scope: newScope(), run: { success: false } });
      const first = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: true });
      expect(await details(body.procedure_id, first.position)).toMatchObject({
        counters: { runs: 1, successes: 1, judged_runs: 1, judged_successes: 1 },
      });
      const second = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: false });
      expect(await details(body.procedure_id, second.position)).toMatchObject({
        counters: { runs: 1, successes: 0, judged_runs: 1, judged_successes: 0 },
      });
    });

    it('needs something said', async () => {
      const { body } = await remember({ scope: newScope() });
      const silent = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, {});
      expect([silent.status, silent.body]).toEqual([
        422,
        expect.objectContaining({ code: 'validation_failed', field: 'worked' }),
      ]);
    });

    it('forgets the verdicts of pruned runs, and keeps that they happened', async () => {
      const scope = newScope();
      const { body } = await remember({ scope, run: { success: true, occurred_at: '2026-01-01T00:00:00Z' } });
      await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: true });
      const recent = await team.client.post<Remembered>(`/v1/procedures/${body.procedure_id}/executions`, {
        success: true,
        occurred_at: '2026-03-01T00:00:00Z',
      });
      await team.client.post(`/v1/executions/${recent.body.execution_id}/feedback`, { worked: true });
      const pruned = await team.client.post(`/v1/procedures/${body.procedure_id}/prune`, { before: '2026-02-01T00:00:00Z' });
      expect(pruned.status).toBe(200);
      expect(await details(body.procedure_id, pruned.position)).toMatchObject({
        counters: { runs: 2, successes: 2, judged_runs: 1, judged_successes: 1, last_run_at: '2026-03-01T00:00:00.000Z' },
      });
      const late = await team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked: false });
      expect([late.status, late.body]).toEqual([410, expect.objectContaining({ code: 'execution_pruned' })]);
      expect((await team.client.get(`/v1/executions/${body.execution_id}`)).status).toBe(410);
      expect((await team.client.get(`/v1/executions/${recent.body.execution_id}`)).status).toBe(200);
    });
  });

  describe('recalling', () => {
    it('searches one scope, and one intent when asked', async () => {
      const scope = newScope();
      await remember({ scope, intent: 'refund', version: 'a' });
      const { position } = await remember({ scope, intent: 'ship', version: 'b' });
      await remember({ scope: newScope() });
      expect((await recall(scope, position)).map(({ procedure }) => procedure.version).sort()).toEqual(['a', 'b']);
      expect((await recall(scope, position, { intent: 'ship' })).map(({ procedure }) => procedure.version)).toEqual(['b']);
    });

    it('carries the score contract, and the numbers of every match', async () => {
      const scope = newScope();
      const { position } = await remember({ scope });
      const { body } = await team.client.post<Record<string, unknown> & Recalled>('/v1/procedures/recall', {
        question,
        scope,
        min_position: position,
      });
      const { matches, ...fields } = body;
      expect(fields).toEqual({
        as_of: null,
        score_contract_version: '2',
        calibration_status: 'uncalibrated',
        calibration_id: null,
        answer_confidence: null,
        abstained: false,
        abstention_reason: null,
        abstention_note: '',
        tier: '',
        warming_up: false,
        status_note: '',
        answer_check_status: 'off',
        answer_check_ran: false,
        answer_check_reason: '',
        answer_check_note: '',
        answerability: 'unjudged',
        answerability_reason: 'disabled',
        reranker_status: 'not_configured',
        local_reranker_status: '',
        support: null,
      });
      const [match] = matches;
      expect(match).toMatchObject({
        relevance_score: match?.similarity,
        ranking_score: match?.total,
        memory_confidence: 0,
        trust_score: 0.5,
        rank_position: 1,
      });
      expect(match).toMatchObject({ score: match?.similarity, confidence: 0 });
    });

    it.each(['skip', 'full', 'no_reorder', 'context', ''])('takes answer_check=%s, in body and query', async (answer_check) => {
      expect((await team.client.post('/v1/procedures/recall', { question, answer_check })).status).toBe(200);
      expect((await team.client.post(`/v1/procedures/recall?answer_check=${answer_check}`, { question })).status).toBe(200);
    });

    it('refuses another answer_check with a 400 that names skip, no_reorder and full', async () => {
      const answer = await team.client.post('/v1/procedures/recall', { question, answer_check: 'sometimes' });
      expect([answer.status, answer.body]).toEqual([
        400,
        expect.objectContaining({ code: 'answer_check_invalid', field: 'answer_check' }),
      ]);
      for (const name of ['skip', 'no_reorder', 'full']) expect(answer.body.detail).toContain(name);
      expect(JSON.stringify(answer.body)).not.toContain('sometimes');
    });

    it.each([
      ['a blank question', { question: '   ' }],
      ['no question', { question: undefined }],
      ['a question that is too long', { question: 'x'.repeat(4_001) }],
      ['top 0', { top: 0 }],
      ['top 51', { top: 51 }],
      ['a part of a match', { top: 1.5 }],
      ['a similarity above 1', { min_similarity: 1.01 }],
      ['a similarity below 0', { min_similarity: -0.01 }],
      ['a scope that is no slug', { scope: 'No Slug' }],
      ['U+0000', { question: 'a\u0000b' }],
      ['half a character', { question: 'a\ud800b' }],
    ])('refuses %s as invalid', async (_, wrong) => {
      const answer = await team.client.post('/v1/procedures/recall', { question, ...wrong });
      expect([answer.status, answer.body]).toEqual([
        422,
        expect.objectContaining({ code: 'validation_failed', field: Object.keys(wrong)[0] }),
      ]);
    });

    it('takes a question of 4,000 characters outside the basic plane', async () => {
      expect((await team.client.post('/v1/procedures/recall', { question: '🧠'.repeat(4_000) })).status).toBe(200);
    });
  });
});
