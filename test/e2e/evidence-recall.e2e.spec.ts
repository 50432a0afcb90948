import { type Recalled, RecallOn } from '../support/recall.js';
import { newTeam, startTestService, type TestService } from '../support/service.js';

describe('recall of evidence over HTTP', () => {
  let service: TestService;
  let on: RecallOn;

  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());
  beforeEach(async () => {
    on = new RecallOn(await newTeam(service));
  });

  describe('the answer', () => {
    it('is the text that helps, and nothing else about it', async () => {
      const [id] = await on.remember({ content: 'Refunds take five days.' }, { content: 'The office has a green door.' });
      const body = await on.recall('How long does a refund take?');
      expect(body.results[0]).toEqual({ evidence_id: id, context: 'Refunds take five days.' });
      expect(body).toMatchObject({
        discovery_paths: [],
        conflict_refs: [],
        related_hypotheses: [],
        recall_id: null,
        as_of: null,
      });
    });

    it('is found by any of the words of a question', async () => {
      const [, id] = await on.remember(
        { content: 'We sell garden chairs.' },
        { content: 'The warehouse in Lyon closes at six.' },
      );
      expect(await on.found('When does the old warehouse near the river close on Mondays?')).toContain(id);
    });

    it('is empty of nothing known, and says so', async () => {
      expect(await on.recall('Anything at all?')).toMatchObject({
        results: [],
        empty_reason: 'no_candidates',
        abstained: true,
        abstention_reason: 'no_candidates',
      });
    });

    it('is empty when nothing has the identifier that was asked for', async () => {
      await on.remember({ content: 'The build of PROJ-124 is green.' });
      const body = await on.recall('What about PROJ-123?');
      expect(body).toMatchObject({ results: [], empty_reason: 'hard_anchors', abstained: true });
      expect(body.guidance).toContain('identifier');
    });

    it('needs every identifier in one text: two do not combine', async () => {
      const [, both] = await on.remember(
        { content: 'PROJ-123 touches nothing.' },
        { content: 'PROJ-123 is fixed by 2e4b0cc.' },
        { content: 'Commit 2e4b0cc is small.' },
      );
      expect(await on.found('Is PROJ-123 in 2e4b0cc?')).toEqual([both]);
    });

    it('has the numbers of the score contract when asked', async () => {
      await on.remember({ content: 'Refunds take five days.' }, { content: 'Refunds need a receipt.' });
      const { results } = await on.recall('How long does a refund take?', { include: ['scores'] });
      expect(results.map(({ rank_position }) => rank_position)).toEqual(results.map((_, index) => index + 1));
      for (const { relevance_score } of results) {
        expect(relevance_score).toBeGreaterThan(0);
        expect(relevance_score).toBeLessThanOrEqual(1);
      }
    });

    it('says how it came about when asked', async () => {
      const [id] = await on.remember({ content: 'Refunds take five days.' }, { content: 'Chairs are green.' });
      const { explanation, channel_status } = await on.recall('How long does a refund take?', { explain: true });
      expect(explanation).toMatchObject({
        profile: { name: 'balanced', version: 1 },
        query: { terms: expect.arrayContaining(['refund']) as string[] },
      });
      expect(explanation?.results[0]).toMatchObject({
        evidence_id: id,
        branches: expect.arrayContaining([expect.objectContaining({ branch: 'text', rank: 1 })]) as object[],
      });
      expect(channel_status).toEqual({ exact: 'ok', text: 'ok', vector: 'ok', context: 'ok' });
    });

    it('is a slot’s worth of what was asked for, without what is known already', async () => {
      const ids = await on.remember(...Array.from({ length: 6 }, (_, index) => ({ content: `Refund rule number ${index}.` })));
      const first = await on.found('Which refund rule?', { limit: 2 });
      const second = await on.found('Which refund rule?', { limit: 2, known_evidence_ids: [...first, first[0]?.toUpperCase()] });
      expect(second).toHaveLength(2);
      expect([...first, ...second].every((id) => ids.includes(id))).toBe(true);
      expect(new Set([...first, ...second]).size).toBe(4);
      expect((await on.recall('Which refund rule?', { limit: 2 })).guidance).toContain('known_evidence_ids');
      expect(await on.recall('Which refund rule?', { known_evidence_ids: ids })).toMatchObject({
        results: [],
        empty_reason: 'known',
      });
    });

    it('stays in its byte budget, and cuts only the first text to it', async () => {
      const long = `Refund rules: ${'é'.repeat(3_000)}`;
      await on.remember({ content: long }, { content: 'Refund rules in short.' }, { content: 'Refund rules again.' });
      const { results } = await on.recall('refund rules', { byte_budget: 60 });
      expect(Buffer.byteLength(results.map(({ context }) => context).join(''))).toBeLessThanOrEqual(60);
      expect(results.map(({ context }) => context)).toEqual(
        expect.arrayContaining(['Refund rules in short.', 'Refund rules again.']) as string[],
      );
      const cut = await on.recall('refund rules', { byte_budget: 60, filters: { authors: [] }, limit: 1 });
      expect(Buffer.byteLength(cut.results[0]?.context ?? '')).toBeLessThanOrEqual(60);
    });

    it('comes with its neighbours at depth 2, under a cap of tokens', async () => {
      const [, middle] = await on.remember(
        ...['We met in Lyon.', 'The parcel is under the bridge.', 'Tell nobody.'].map((content, sequence) => ({
          content,
          group: 'chat',
          sequence,
        })),
      );
      const body = await on.recall('Where is the parcel?', { depth: 2, limit: 1 });
      expect(body.results[0]).toMatchObject({
        evidence_id: middle,
        neighbours: [{ context: 'We met in Lyon.' }, { context: 'Tell nobody.' }],
      });
      expect(body.layers).toMatchObject({ depth: 2, max_tokens: null, left_out: 0, trimmed: false });
      const capped = await on.recall('Where is the parcel?', { depth: 2, limit: 1, max_tokens: 9 });
      expect(capped.layers).toMatchObject({ left_out: 2, tokens_used: 8 });
      expect((await on.recall('Where is the parcel?')).layers).toBeUndefined();
    });
  });

  describe('filters', () => {
    const about = { content: 'Refund rule for the shop.' };

    it.each<[string, object, object]>([
      ['sources', { source_key: 'handbook' }, { sources: ['handbook', 'other'] }],
      ['source_types', { source_type: 'document' }, { source_types: ['document'] }],
      ['groups', { group: 'chat-1' }, { groups: ['chat-1'] }],
      ['labels', { labels: ['policy', 'old'] }, { labels: ['policy', 'old'] }],
      ['subjects', { subjects: ['customer-1'] }, { subjects: ['customer-1'] }],
      [
        'metadata',
        { metadata: { channel: 'email', level: 2, draft: false } },
        { metadata: { channel: 'email', level: 2, draft: false } },
      ],
      ['authorities', { authority: 'primary' }, { authorities: ['primary'] }],
      ['authors', { author: 'Mark' }, { authors: ['Mark'] }],
      [
        'occurred_at',
        { occurred_at: '2026-01-31T12:00:00Z' },
        { occurred_from: '2026-01-31T12:00:00Z', occurred_to: '2026-01-31T12:00:00.001Z' },
      ],
    ])('by %s let through what has them', async (_, fields, filters) => {
      const [, wanted] = await on.remember(about, { content: 'Refund rule of the house.', ...fields });
      expect(await on.found('refund rule', { filters })).toEqual([wanted]);
    });

    it('by owner let through what they remembered', async () => {
      const [id] = await on.remember(about);
      expect(await on.found('refund rule', { filters: { owners: [on.team.profile] } })).toEqual([id]);
      expect(await on.found('refund rule', { filters: { owners: ['00000000-0000-4000-8000-000000000001'] } })).toEqual([]);
    });

    it('by time are half-open', async () => {
      await on.remember({ ...about, occurred_at: '2026-01-31T12:00:00Z' });
      expect(await on.found('refund rule', { filters: { occurred_to: '2026-01-31T12:00:00Z' } })).toEqual([]);
      expect(await on.found('refund rule', { filters: { occurred_from: '2026-01-31T12:00:00Z' } })).toHaveLength(1);
    });

    it('name scopes: those asked for, and no others', async () => {
      const [mine, yours] = await on.remember({ ...about, scope: 'mine' }, { ...about, scope: 'yours' });
      expect(await on.found('refund rule')).toEqual([]);
      expect(await on.found('refund rule', { scopes: ['mine'] })).toEqual([mine]);
      expect((await on.found('refund rule', { scopes: ['mine', 'yours'] })).sort()).toEqual([mine, yours].sort());
    });
  });

  describe('what is asked wrongly', () => {
    const tooMany = Array.from({ length: 201 }, (_, index) => `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`);

    it.each<[string, object]>([
      ['known_evidence_ids', { known_evidence_ids: tooMany }],
      ['known_evidence_ids', { known_evidence_ids: ['no id'] }],
      ['known_relationship_ids', { known_relationship_ids: tooMany }],
      ['limit', { limit: 51 }],
      ['limit', { limit: 0 }],
      ['scopes', { scopes: [] }],
      ['scopes', { scopes: Array.from({ length: 21 }, (_, index) => `s${index}`) }],
      ['include', { include: ['everything'] }],
      ['depth', { depth: 4 }],
      ['valid_at', { valid_at: 'yesterday' }],
      ['filters.authorities', { filters: { authorities: ['certain'] } }],
      ['question', { question: '' }],
      ['question', { question: 'x'.repeat(4_001) }],
    ])('is a 422 that names %s', async (field, options) => {
      const answer = await on.ask('refund rule', options);
      expect(answer.status).toBe(422);
      const named = answer.body as unknown as { field?: string; fields?: { field: string }[] };
      expect([named.field, ...(named.fields ?? []).map((each) => each.field)].join()).toContain(field);
    });

    it('may be 200 known ids', async () => {
      await on.remember({ content: 'Refund rule.' });
      expect(await on.found('refund rule', { known_evidence_ids: tooMany.slice(1) })).toHaveLength(1);
    });

    it('is a 400 for a check that does not exist', async () => {
      expect(await on.ask('refund rule', { answer_check: 'sometimes' })).toMatchObject({
        status: 400,
        body: { field: 'answer_check' },
      });
    });

    it('is a ranking of the caller’s choice without the scope to evaluate', async () => {
      const reader = await on.team.clientWith(['memory:read']);
      const answer = await reader.post<Recalled>('/v1/recall', { question: 'refund rule', profile: 'evidence' });
      expect(answer).toMatchObject({ status: 403, body: { code: 'forbidden', field: 'profile' } });
      expect((await on.ask('refund rule', { profile: 'mine' })).body).toMatchObject({
        code: 'ranking_profile_unknown',
        field: 'profile',
      });
      const { explanation } = await on.recall('refund rule', { profile: 'evidence', explain: true });
      expect(explanation?.profile.name).toBe('evidence');
    });
  });

  describe('words', () => {
    it.each([
      ['Chinese', '退款需要五个工作日。', '退款要多久'],
      ['Japanese', '返金には五営業日かかります。', '返金の日数'],
      ['Thai', 'การคืนเงินใช้เวลาห้าวัน', 'คืนเงินกี่วัน'],
      ['accents and case', 'The CAFÉ in Zürich opens at nine.', 'when does the cafe in ZURICH open'],
    ])('of %s are found', async (_, content, question) => {
      const [id] = await on.remember({ content }, { content: 'Nothing of the kind 456.' });
      expect((await on.found(question))[0]).toBe(id);
    });

    it('are no patterns', async () => {
      const [percent] = await on.remember(
        { content: 'Margin is 100% of_list back\\slash.' },
        { content: 'Margin is 100x ofXlist backslash.', scope: 'other-scope' },
      );
      for (const question of ['100%', 'of_list', 'back\\slash', '%', '_', '\\', "'; DROP TABLE evidence; --"])
        expect((await on.found(question)).filter((id) => id !== percent)).toEqual([]);
    });
  });
});
