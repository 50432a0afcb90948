import fc from 'fast-check';
import { allProjections } from '../../src/infrastructure.js';
import { applyEvents } from '../../projections/engine/apply.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { action, play } from '../support/procedure-story.js';
import { readModelRows, rebuildAll } from '../support/read-model-rows.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

describe('the read models of procedures', () => {
  let service: TestService;
  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());

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
        await settled(team, (await play(team, actions)).position);
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
        const { position } = await play(team, actions);
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
