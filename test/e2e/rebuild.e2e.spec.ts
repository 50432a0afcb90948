import fc from 'fast-check';
import { allProjections } from '../../src/infrastructure.js';
import { applyEvents } from '../../projections/engine/apply.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { readModelRows, rebuildAll } from '../support/read-model-rows.js';
import type { Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

type Action =
  | { do: 'remember'; version: number; success: boolean; review: boolean; daysAgo: number }
  | { do: 'run'; version: number; success: boolean; daysAgo: number }
  | { do: 'feedback'; run: number; worked: boolean | null }
  | { do: 'approve' | 'reject' | 'archive' | 'restore' | 'erase'; version: number }
  | { do: 'prune'; version: number; daysAgo: number };

const version = fc.integer({ min: 0, max: 2 });
const daysAgo = fc.integer({ min: 0, max: 5 });
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('remember' as const), version, success: fc.boolean(), review: fc.boolean(), daysAgo }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('run' as const), version, success: fc.boolean(), daysAgo }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('feedback' as const), run: fc.nat(9), worked: fc.constantFrom(true, false, null) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('approve', 'reject', 'archive', 'restore'), version }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('prune' as const), version, daysAgo }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), version }) },
);

describe('the read models of procedures', () => {
  let service: TestService;
  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());

  const dayOf = (days: number) => new Date(Date.UTC(2026, 4, 31 - days)).toISOString();

  /** Plays the actions over HTTP; refusals are part of the game. */
  async function play(team: TestTeam, actions: readonly Action[]): Promise<string> {
    const procedures = new Map<number, string>();
    const runs: string[] = [];
    let last = '';
    const note = ({ position }: { position: string }) => (last = position || last);
    for (const next of actions) {
      const id = 'version' in next ? procedures.get(next.version) : undefined;
      switch (next.do) {
        case 'remember': {
          const answer = await team.client.post<Remembered>('/v1/procedures', {
            question: 'How do I refund an order?',
            version: `${next.version}`,
            graph: {},
            review: next.review,
            run: { success: next.success, occurred_at: dayOf(next.daysAgo) },
          });
          procedures.set(next.version, answer.body.procedure_id);
          runs.push(answer.body.execution_id);
          note(answer);
          break;
        }
        case 'run': {
          if (!id) break;
          const answer = await team.client.post<Remembered>(`/v1/procedures/${id}/executions`, {
            success: next.success,
            occurred_at: dayOf(next.daysAgo),
          });
          if (answer.status === 201) runs.push(answer.body.execution_id);
          note(answer);
          break;
        }
        case 'feedback':
          if (runs.length > 0)
            note(await team.client.post(`/v1/executions/${runs[next.run % runs.length]}/feedback`, { worked: next.worked }));
          break;
        case 'prune':
          if (id) note(await team.client.post(`/v1/procedures/${id}/prune`, { before: dayOf(next.daysAgo) }));
          break;
        case 'erase':
          if (id) note(await team.client.delete(`/v1/procedures/${id}`));
          break;
        default:
          if (id) note(await team.client.post(`/v1/procedures/${id}/${next.do}`));
      }
    }
    return last;
  }

  const rows = () => readModelRows(service.infrastructure);

  async function settled(team: TestTeam, position: string): Promise<void> {
    if (position === '') return;
    const answer = await team.client.post('/v1/procedures/recall', {
      question: 'How do I refund an order?',
      min_position: position,
    });
    expect(answer.status).toBe(200);
  }

  it('are the same when they are rebuilt, and do not change when every event is applied again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 18 }), async (actions) => {
        const team = await newTeam(service);
        await settled(team, await play(team, actions));
        const live = await rows();
        await applyAllAgain();
        expect(await rows()).toEqual(live);
        await rebuildAll(service.infrastructure);
        expect(await rows()).toEqual(live);
      }),
      { numRuns: 12 },
    );
  }, 120_000);

  async function applyAllAgain(): Promise<void> {
    const { database, log, codec, embedder } = service.infrastructure;
    const stored: StoredEvent[] = [];
    for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix })) stored.push(event);
    const builds = await database.query<{ name: string; schema: string }>(
      `SELECT name, schema_name AS schema FROM mneme.projection_builds WHERE role = 'serving' AND state = 'active'`,
    );
    for (const projection of allProjections) {
      const schema = builds.find(({ name }) => name === projection.name)?.schema;
      if (!schema) throw new Error(`${projection.name} is not active`);
      const wanted = stored.filter(({ type }) => projection.eventTypes.includes(type));
      const events = await codec.decode(wanted, { content: projection.needsContent });
      await database.as('mneme_projector', (queries) =>
        applyEvents(queries, { projection, schema, embeddingContract: embedder.contract.id }, events),
      );
    }
  }

  it('agree with a trace that folds the log, for every procedure', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 18 }), async (actions) => {
        const team = await newTeam(service);
        const position = await play(team, actions);
        await settled(team, position);
        const { body } = await team.client.get<{ items: { procedure_id: string; status: string; counters: object }[] }>(
          '/v1/procedures',
        );
        for (const { procedure_id, status, counters } of body.items) {
          const trace = await team.client.get<{ state: object }>(`/v1/procedures/${procedure_id}/trace`);
          expect(trace.body.state).toMatchObject({ status, counters });
        }
      }),
      { numRuns: 12 },
    );
  }, 60_000);
});
