import { RecallOn } from '../support/recall.js';
import { newTeam, startTestService, type TestService } from '../support/service.js';

/** Each way in which evidence stops being eligible, and what undoes it. */
type Way = (on: RecallOn, id: string) => Promise<unknown>;

const change =
  (name: string, body: object = {}): Way =>
  (on, id) =>
    on.evidence.change(id, name, body).then((answer) => on.seen(answer));

const publish =
  (revision: string): Way =>
  (on) =>
    on.evidence.publish('handbook', revision).then((answer) => on.seen(answer));

const ways: readonly { readonly why: string; readonly leave: Way; readonly undo?: Way }[] = [
  { why: 'quarantined', leave: change('quarantine'), undo: change('release') },
  { why: 'announced to be superseded', leave: change('announce-supersession'), undo: change('withdraw-supersession') },
  { why: 'retracted', leave: change('retract') },
  {
    why: 'superseded',
    leave: async (on, id) => {
      const [replacement_id] = await on.remember({ content: 'Something else altogether.' });
      await change('supersede', { replacement_id })(on, id);
    },
  },
  { why: 'of a revision that is not current', leave: publish('r2'), undo: publish('r1') },
  { why: 'erased', leave: (on, id) => on.evidence.erase(id).then((answer) => on.seen(answer)) },
];

describe('evidence that is no longer eligible', () => {
  let service: TestService;
  let on: RecallOn;

  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());
  beforeEach(async () => {
    on = new RecallOn(await newTeam(service));
  });

  /** Three turns of a conversation; only the middle one is touched. */
  const conversation = async () => {
    const [before, middle, after] = await on.remember(
      { content: 'Shall we go to the harbour?', group: 'chat', sequence: 1, author: 'Ines' },
      {
        content: 'Ticket PROJ-123 blocks the quince harvest.',
        group: 'chat',
        sequence: 2,
        author: 'Maren',
        external_id: 'msg-17',
        source_key: 'handbook',
        source_revision: 'r1',
        metadata: { commit: '2e4b0cc' },
      },
      { content: 'Then tomorrow.', group: 'chat', sequence: 3, author: 'Ines' },
    );
    return { before: before ?? '', middle: middle ?? '', after: after ?? '' };
  };

  /** A question for each branch, that finds the middle one while it is there. */
  const questions = (middle: string) =>
    [
      ['exact, by external id', 'msg-17'],
      ['exact, by id', middle],
      ['exact, by source key', 'handbook'],
      ['exact, by anchor', 'PROJ-123'],
      ['exact, by anchor in metadata', '2e4b0cc'],
      ['text and vector', 'What about the quince harvest?'],
      ['a named author', 'What did Maren say?'],
      ['the context of its neighbours', 'Shall we go to the harbour tomorrow?'],
    ] as const;

  it.each(ways)('because it is $why is gone from every branch at the next read', async ({ leave, undo }) => {
    const { middle } = await conversation();
    for (const [branch, question] of questions(middle))
      expect({ branch, found: (await on.found(question)).includes(middle) }).toEqual({ branch, found: true });
    await leave(on, middle);
    for (const [branch, question] of questions(middle)) {
      const body = await on.recall(question, { depth: 2, explain: true });
      expect({ branch, body: JSON.stringify(body).includes(middle) && question !== middle }).toEqual({ branch, body: false });
      expect(JSON.stringify(body)).not.toContain('quince harvest');
    }
    if (!undo) return;
    await undo(on, middle);
    for (const [branch, question] of questions(middle))
      expect({ branch, found: (await on.found(question)).includes(middle) }).toEqual({ branch, found: true });
  });

  it('leaves its neighbours next to each other, and is no step on the way to one', async () => {
    const { before, middle, after } = await conversation();
    const around = async () => (await on.recall('Shall we go to the harbour?', { depth: 2, limit: 1 })).results[0];
    expect((await around())?.neighbours?.map(({ evidence_id }) => evidence_id)).toEqual([middle]);
    await change('retract')(on, middle);
    expect(await around()).toMatchObject({ evidence_id: before, neighbours: [{ evidence_id: after }] });
  });

  it('because its owner is deactivated comes back with its owner', async () => {
    const profile = await on.team.newProfile('Guest');
    const guest = await on.team.clientWith(['memory:read', 'memory:write'], profile);
    const answer = await guest.post<{ evidence_id: string }>('/v1/evidence', { content: 'The quince harvest is late.' });
    on.seen(answer);
    expect(await on.found('quince harvest')).toEqual([answer.body.evidence_id]);
    on.seen(await service.operator.post(`/v1/profiles/${profile}/deactivate`, { team_id: on.team.id }));
    expect(await on.found('quince harvest')).toEqual([]);
    on.seen(await service.operator.post(`/v1/profiles/${profile}/reactivate`, { team_id: on.team.id }));
    expect(await on.found('quince harvest')).toEqual([answer.body.evidence_id]);
  });

  it('at a moment in the world is not valid then: windows are half-open', async () => {
    const [id] = await on.remember({
      content: 'The quince harvest is on.',
      valid_from: '2026-09-01T00:00:00Z',
      valid_to: '2026-10-01T00:00:00Z',
    });
    const at = (valid_at: string) => on.found('quince harvest', { valid_at });
    expect(await at('2026-08-31T23:59:59.999Z')).toEqual([]);
    expect(await at('2026-09-01T00:00:00Z')).toEqual([id]);
    expect(await at('2026-09-30T23:59:59.999Z')).toEqual([id]);
    expect(await at('2026-10-01T00:00:00Z')).toEqual([]);
  });

  it('was eligible at a position before, and is recalled as of it; erased it is absent at every moment', async () => {
    const [id] = await on.remember({ content: 'The quince harvest is on.' });
    const known = on.position;
    await change('retract')(on, id ?? '');
    expect(await on.found('quince harvest')).toEqual([]);
    expect(await on.found('quince harvest', { at_position: known })).toEqual([id]);
    on.seen(await on.evidence.erase(id ?? ''));
    expect(await on.found('quince harvest', { at_position: known })).toEqual([]);
  });

  it('did not exist at a position before it was remembered', async () => {
    await on.remember({ content: 'The first quince.' });
    const known = on.position;
    await on.remember({ content: 'The second quince.' });
    expect((await on.recall('quince', { at_position: known })).results.map(({ context }) => context)).toEqual([
      'The first quince.',
    ]);
    expect(await on.found('quince')).toHaveLength(2);
  });

  it('of another team is never seen, whatever its scope or id', async () => {
    const { middle } = await conversation();
    const other = new RecallOn(await newTeam(service));
    await other.remember({ content: 'An apple.' });
    for (const [, question] of questions(middle)) {
      const body = await other.recall(question, { explain: true });
      expect(JSON.stringify(body)).not.toContain('quince harvest');
      expect(body.results.filter(({ context }) => context !== 'An apple.')).toEqual([]);
    }
    const own = await other.found('apple', { known_evidence_ids: [middle] });
    expect(own).toHaveLength(1);
  });
});
