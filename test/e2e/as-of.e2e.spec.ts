import { setTimeout as sleep } from 'node:timers/promises';
import { positionToken } from '../../src/event-log/position-token.js';
import type { Answer } from '../support/http.js';
import { type Recalled, type Remembered, rememberVersion, times } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const question = 'How do I refund an order?';
const farther = 'How do I refund an order for a customer?';
const closer = 'How do I refund an order I shipped?';
const day = 86_400_000;

interface AsOf {
  readonly position: string;
  readonly known_at: string | null;
}
type RecalledThen = Recalled & { readonly as_of: AsOf | null };
interface Listed {
  readonly items: readonly { procedure_id: string; status: string; revision: number; counters: object }[];
  readonly next_cursor: string | null;
  readonly as_of: AsOf | null;
}
interface Traced {
  readonly state: { status: string; counters: object; content: object | null; success?: boolean; pruned?: boolean };
  readonly events: readonly { type: string; redacted: boolean; content: object | null; recorded_at: string }[];
  readonly complete_to_position: string;
  readonly as_of: AsOf | null;
}
/** Query or body of a read of the past. */
type Then = Partial<Record<'known_at' | 'at_position' | 'min_position', string>>;

describe('reads of the past', () => {
  let service: TestService;
  let team: TestTeam;
  beforeAll(async () => {
    service = await startTestService();
    // Later than whatever the log records, so that every time of the test is past.
    service.clock.set(new Date(Date.now() + 400 * day));
    team = await newTeam(service);
  });
  afterAll(() => service.stop());

  const recall = (body: object): Promise<Answer<RecalledThen>> =>
    team.client.post<RecalledThen>('/v1/procedures/recall', { question, top: 10, ...body });
  const get = <Body>(path: string, then: Then): Promise<Answer<Body>> =>
    team.client.get<Body>(`${path}?${new URLSearchParams(then).toString()}`);

  /** When the log learned the last write, by which it is a moment of its own: the next one is recorded later. */
  const moment = async (position: string): Promise<{ position: string; time: string }> => {
    const { body } = await get<Listed>('/v1/procedures', { at_position: position });
    await sleep(3);
    return { position, time: body.as_of?.known_at ?? 'unknown' };
  };

  it('give the ranking of each moment: before and after feedback, pruning and archiving', async () => {
    const scope = 'ranked';
    const original = await rememberVersion(team.client, { scope, runs: [true] });
    const one = await moment(original.position);
    let last = original.position;
    for (let run = 1; run < 20; run++)
      last = (await team.client.post(`/v1/procedures/${original.id}/executions`, { success: true })).position;
    const twenty = await moment(last);
    const child = await rememberVersion(team.client, {
      scope,
      version: '1.1',
      parent_id: original.id,
      graph: { steps: ['check'] },
    });
    const inherited = await moment(child.position);
    const close = await rememberVersion(team.client, { scope, question: closer, runs: [...times(5, true), ...times(5, false)] });
    const example = await moment(close.position);
    const archived = await moment((await team.client.post(`/v1/procedures/${original.id}/archive`)).position);
    const restored = await moment((await team.client.post(`/v1/procedures/${original.id}/restore`)).position);

    const ranking = async (then: Then) => {
      const { status, body } = await recall({ scope, ...then });
      expect(status).toBe(200);
      return body.matches.map(({ procedure, success_rate, total }) => [
        procedure.question === closer ? 'close' : procedure.version,
        Number(success_rate.toFixed(3)),
        Number(total.toFixed(3)),
      ]);
    };
    const worked = [
      ['1.1', 0.848, 0.863],
      ['1.0', 0.833, 0.858],
      ['close', 0.5, 0.802],
    ];
    const told = async ({ position, time }: { position: string; time: string }) => {
      const byPosition = await ranking({ at_position: position });
      expect(await ranking({ known_at: time })).toEqual(byPosition);
      return byPosition;
    };
    expect(await told(one)).toEqual([['1.0', 0.545, 0.772]]);
    expect(await told(twenty)).toEqual([['1.0', 0.833, 0.858]]);
    expect(await told(inherited)).toEqual([
      ['1.1', 0.848, 0.863],
      ['1.0', 0.833, 0.858],
    ]);
    expect(await told(example)).toEqual(worked);
    expect(await told(archived)).toEqual(worked.filter(([version]) => version !== '1.0'));
    expect(await told(restored)).toEqual(worked);
  });

  it('know verdicts only from when they were given, until they were pruned', async () => {
    const scope = 'judged';
    const { body, position } = await team.client.post<Remembered>('/v1/procedures', {
      question: farther,
      scope,
      graph: {},
      run: { success: true },
    });
    const id = body.procedure_id;
    const agentOnly = await moment(position);
    const feedback = (worked: boolean) => team.client.post(`/v1/executions/${body.execution_id}/feedback`, { worked });
    const judged = await moment((await feedback(true)).position);
    const overturned = await moment((await feedback(false)).position);
    const before = new Date(Date.now() + day).toISOString();
    const pruned = await moment((await team.client.post(`/v1/procedures/${id}/prune`, { before })).position);

    const counters = { runs: 1, successes: 1, judged_runs: 0, judged_successes: 0 };
    for (const [then, rate, counted] of [
      [agentOnly, 0.545, counters],
      [judged, 0.583, { ...counters, judged_runs: 1, judged_successes: 1 }],
      [overturned, 0.417, { ...counters, successes: 0, judged_runs: 1 }],
      [pruned, 0.455, { ...counters, successes: 0 }],
    ] as const) {
      const asked = { at_position: then.position };
      const { matches } = (await recall({ scope, ...asked })).body;
      expect(matches[0]?.success_rate).toBeCloseTo(rate, 3);
      expect((await get<{ counters: object }>(`/v1/procedures/${id}`, asked)).body.counters).toMatchObject(counted);
      expect((await get<Traced>(`/v1/procedures/${id}/trace`, asked)).body.state.counters).toMatchObject(counted);
      const run = (await get<Traced>(`/v1/executions/${body.execution_id}/trace`, { known_at: then.time })).body;
      expect(run.state).toMatchObject({ success: counted.successes === 1, pruned: then === pruned });
    }
  });

  it('tell freshness by the clock of the moment', async () => {
    const scope = 'fresh';
    const { position } = await rememberVersion(team.client, { scope, question: farther });
    const { time } = await moment(position);
    const later = (days: number) => new Date(new Date(time).getTime() + days * day).toISOString();
    const freshness = async (then: Then) => (await recall({ scope, ...then })).body.matches[0]?.freshness;
    expect(await freshness({ at_position: position })).toBeCloseTo(1, 6);
    expect(await freshness({ known_at: time })).toBeCloseTo(1, 6);
    expect(await freshness({ known_at: later(30) })).toBeCloseTo(0.5, 6);
    expect(await freshness({ known_at: later(90) })).toBeCloseTo(0.125, 6);
    // A time to come is now.
    expect(await freshness({ known_at: later(4_000) })).toBe(await freshness({ min_position: position }));
  });

  it('say which moment they are of', async () => {
    const scope = 'said';
    const { id, position } = await rememberVersion(team.client, { scope, question: farther });
    const { time } = await moment(position);
    await rememberVersion(team.client, { scope: 'other' });
    const asOf = { position, known_at: time };
    expect((await recall({ scope, known_at: time })).body.as_of).toEqual(asOf);
    expect((await recall({ scope, at_position: position })).body.as_of).toEqual(asOf);
    expect((await get<Listed>('/v1/procedures', { known_at: time })).body.as_of).toEqual(asOf);
    expect((await get<Listed>(`/v1/procedures/${id}`, { known_at: time })).body.as_of).toEqual(asOf);
    const traced = (await get<Traced>(`/v1/procedures/${id}/trace`, { known_at: time })).body;
    expect([traced.as_of, traced.complete_to_position]).toEqual([asOf, position]);
    expect((await recall({ scope })).body.as_of).toBeNull();
    const ahead = service.clock.now();
    const now = await recall({ scope, known_at: new Date(ahead.getTime() + day).toISOString() });
    expect(now.body.as_of?.known_at).toBe(ahead.toISOString());
    expect(now.body.matches).toHaveLength(1);
  });

  it('know nothing before the first event', async () => {
    const { id } = await rememberVersion(team.client, { scope: 'first', question: farther });
    for (const then of [{ known_at: '1970-01-01T00:00:00Z' }, { known_at: '0001-01-01T00:00:00Z' }]) {
      const { status, body } = await recall({ scope: 'first', ...then });
      expect([status, body.matches, body.abstention_reason]).toEqual([200, [], 'no_candidates']);
      expect((await get<Listed>('/v1/procedures', then)).body.items).toEqual([]);
      expect((await get(`/v1/procedures/${id}`, then)).status).toBe(404);
      expect((await get(`/v1/procedures/${id}/trace`, then)).status).toBe(404);
    }
  });

  it('list what there was, with the status, version and counters of then, page by page', async () => {
    const mine = await newTeam(service);
    const list = (then: object) => mine.client.get<Listed>(`/v1/procedures?${new URLSearchParams({ ...then }).toString()}`);
    const first = await rememberVersion(mine.client, { version: '1' });
    const second = await rememberVersion(mine.client, { version: '2' });
    const { position } = await mine.client.post(`/v1/procedures/${first.id}/archive`);
    await rememberVersion(mine.client, { version: '3' });
    const ids = (items: Listed['items']) => items.map(({ procedure_id, status, revision }) => [procedure_id, status, revision]);
    expect(ids((await list({ at_position: second.position })).body.items)).toEqual([
      [second.id, 'active', 0],
      [first.id, 'active', 0],
    ]);
    expect(ids((await list({ at_position: position, status: 'archived' })).body.items)).toEqual([[first.id, 'archived', 1]]);
    const page = (await list({ at_position: position, limit: '1' })).body;
    expect(ids(page.items)).toEqual([[second.id, 'active', 0]]);
    const next = (await list({ at_position: position, limit: '1', cursor: page.next_cursor })).body;
    expect([ids(next.items), next.next_cursor]).toEqual([[[first.id, 'archived', 1]], null]);
  });

  it('never show what was erased, at no moment, nor what a version inherited from it', async () => {
    const scope = 'erased';
    const parent = await rememberVersion(team.client, { scope, runs: times(20, true) });
    const child = await rememberVersion(team.client, { scope, version: '1.1', parent_id: parent.id });
    const { time } = await moment(child.position);
    const { position } = await team.client.delete(`/v1/procedures/${parent.id}`);
    for (const then of [{ at_position: child.position }, { known_at: time }]) {
      const { matches } = (await recall({ scope, min_position: position, ...then })).body;
      expect(matches.map(({ procedure, evidence }) => [procedure.procedure_id, evidence.uses_parent_prior])).toEqual([
        [child.id, false],
      ]);
      expect(matches[0]?.success_rate).toBeCloseTo(0.545, 3);
      expect((await get(`/v1/procedures/${parent.id}`, then)).status).toBe(404);
      const { state, events } = (await get<Traced>(`/v1/procedures/${parent.id}/trace`, then)).body;
      expect(state).toMatchObject({ status: 'erased', content: null, counters: { runs: 0 } });
      expect(events.map(({ type }) => type)).not.toContain('ProcedureErased');
      expect(events.every(({ content }) => content === null)).toBe(true);
      expect(events.filter(({ type }) => type === 'ProcedureRemembered')).toMatchObject([{ redacted: true }]);
    }
    expect((await get(`/v1/procedures/${parent.id}/trace`, { known_at: '1999-01-01T00:00:00Z' })).status).toBe(404);
  });

  it('show of a trace what had happened, and its state then', async () => {
    const { id, position } = await rememberVersion(team.client, { scope: 'traced', question: farther });
    await moment(position);
    const archived = await team.client.post(`/v1/procedures/${id}/archive`);
    const { time } = await moment(archived.position);
    await team.client.post(`/v1/procedures/${id}/executions`, { success: false });
    const told = async (then: Then) => {
      const { body } = await get<Traced>(`/v1/procedures/${id}/trace`, then);
      return [body.state.status, body.state.counters, body.events.map(({ type }) => type)];
    };
    const happened = ['ExecutionRecorded', 'ProcedureRemembered'];
    const once = expect.objectContaining({ runs: 1, successes: 1 }) as object;
    expect(await told({ at_position: position })).toEqual(['active', once, happened]);
    expect(await told({ known_at: time })).toEqual(['archived', once, [...happened, 'ProcedureArchived']]);
  });

  it('keep the version for If-Match to reads of now', async () => {
    const { id, position } = await rememberVersion(team.client, { scope: 'versioned' });
    expect((await get(`/v1/procedures/${id}`, { at_position: position })).headers.has('etag')).toBe(false);
    expect((await get(`/v1/procedures/${id}`, { min_position: position })).headers.get('etag')).toBe('"0"');
  });

  describe('refuse', () => {
    const refused: readonly [string, () => Then, object][] = [
      [
        'a time and a position at once',
        () => ({ known_at: '2026-01-01T00:00:00Z', at_position: service.infrastructure.logIdentity.logId }),
        { status: 422, code: 'as_of_ambiguous', field: 'at_position' },
      ],
      [
        'a position of another log',
        () => ({ at_position: positionToken('22222222-2222-4222-8222-222222222222', 0n) }),
        { status: 422, code: 'position_invalid', field: 'at_position' },
      ],
      [
        'a position beyond the head',
        () => ({ at_position: positionToken(service.infrastructure.logIdentity.logId, 2n ** 40n) }),
        { status: 422, code: 'position_beyond_head', field: 'at_position' },
      ],
      ['a time that is none', () => ({ known_at: 'yesterday' }), { status: 422, code: 'validation_failed', field: 'known_at' }],
    ];
    let id = '';
    beforeAll(async () => ({ id } = await rememberVersion(team.client, { scope: 'refused' })));

    it.each(refused)('%s', async (_, then, problem) => {
      const answers = [
        await recall(then()),
        await team.client.post(`/v1/procedures/recall?${new URLSearchParams(then()).toString()}`, { question }),
        await get('/v1/procedures', then()),
        await get(`/v1/procedures/${id}`, then()),
        await get(`/v1/procedures/${id}/trace`, then()),
        await get(`/v1/executions/${id}/trace`, then()),
      ];
      for (const { body } of answers) expect(body).toMatchObject(problem);
    });
  });
});
