import type { Recalled, Remembered } from '../support/remember.js';
import { reactorsSettled } from '../support/retention.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

/** Words that stand nowhere else, in every field a person can write. */
const words = {
  question: 'xyzzyquestion',
  answer: 'xyzzyanswer',
  graph: 'xyzzygraph',
  version: 'xyzzyversion',
  scope: 'xyzzyscope',
  intent: 'xyzzyintent',
  reason: 'xyzzyreason',
  key: 'xyzzykey',
};

/** What may still name an erased memory, and why. Everything else that does is residue. */
const tombstones: Readonly<Record<string, string>> = {
  'mneme.events': 'the log keeps that it happened; content is sealed and its key destroyed',
  'mneme.data_keys': 'the erased state itself, so that no key is ever made again',
  event_refs: 'where trace finds what happened, without content',
  erased_procedures: 'so that a late run brings no counters back',
  'mneme.commands': 'receipts, which hold ids and states only, so that a repeated command gets the same one',
};

describe('an erased procedure', () => {
  let service: TestService;
  let team: TestTeam;
  let erased: Remembered;
  let position: string;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    await team.client.patch(`/v1/teams/${team.id}/settings`, { execution_retention_days: 36_500 });
    const remembered = await team.client.post<Remembered>(
      '/v1/procedures',
      {
        question: words.question,
        scope: words.scope,
        intent: words.intent,
        version: words.version,
        graph: { [words.graph]: words.graph },
        run: { success: true, answer: words.answer },
      },
      { headers: { 'idempotency-key': words.key } },
    );
    erased = remembered.body;
    await team.client.post(`/v1/procedures/${erased.procedure_id}/executions`, { success: true, answer: words.answer });
    await team.client.post(`/v1/executions/${erased.execution_id}/feedback`, { worked: true });
    const archived = await team.client.post(`/v1/procedures/${erased.procedure_id}/archive`, { reason: words.reason });
    await team.client.get(`/v1/procedures/${erased.procedure_id}?min_position=${archived.position}`);
    await reactorsSettled(service.infrastructure);
    await service.infrastructure.database.query('ANALYZE');
    expect(await rowsNaming(erased.procedure_id)).toEqual(
      expect.arrayContaining([
        expect.stringContaining('procedures'),
        expect.stringContaining('judged_counters'),
        'mneme.vector_cache',
        'mneme.due_timers',
      ]),
    );
    const answer = await team.client.delete(`/v1/procedures/${erased.procedure_id}`);
    expect([answer.status, answer.body]).toEqual([200, { procedure_id: erased.procedure_id, status: 'erased' }]);
    ({ position } = answer);
    await team.client.get(`/v1/procedures?min_position=${position}`);
  });
  afterAll(() => service.stop());

  /** Every table of ours, whatever schema or projection it belongs to, that has a row with this text anywhere in it. */
  async function rowsNaming(text: string): Promise<string[]> {
    const { database } = service.infrastructure;
    const tables = await database.query<{ schema: string; name: string }>(
      `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema ~ '^mneme' ORDER BY 1, 2`,
    );
    expect(tables.length).toBeGreaterThan(12);
    const found: string[] = [];
    for (const { schema, name } of tables) {
      const [row] = await database.query<{ found: boolean }>(
        `SELECT EXISTS (SELECT FROM "${schema}"."${name}" AS t WHERE position($1 IN t::text) > 0) AS found`,
        [text],
      );
      if (row?.found) found.push(`${schema}.${name}`);
    }
    const statistics = await database.query<{ name: string }>(
      `SELECT DISTINCT tablename AS name FROM pg_stats
       WHERE schemaname ~ '^mneme' AND position($1 IN concat(most_common_vals::text, histogram_bounds::text)) > 0`,
      [text],
    );
    return [...found, ...statistics.map(({ name }) => `statistics of ${name}`)];
  }

  it.each(Object.entries(words))('leaves no %s in any table', async (_, word) => expect(await rowsNaming(word)).toEqual([]));

  it('leaves its id in no table but the declared tombstones', async () => {
    // Statistics may name its id until they are made anew; an id says nothing.
    const allowed = (table: string) =>
      table.startsWith('statistics of') || Object.keys(tombstones).some((name) => table === name || table.endsWith(`.${name}`));
    for (const id of [erased.procedure_id, erased.execution_id]) {
      expect((await rowsNaming(id)).filter((table) => !allowed(table))).toEqual([]);
    }
  });

  it('is gone from every read', async () => {
    const at = `min_position=${position}`;
    expect((await team.client.get(`/v1/procedures/${erased.procedure_id}?${at}`)).status).toBe(404);
    expect((await team.client.get(`/v1/executions/${erased.execution_id}?${at}`)).status).toBe(404);
    expect((await team.client.get<{ items: unknown[] }>(`/v1/procedures?${at}`)).body.items).toEqual([]);
    const recalled = await team.client.post<Recalled>('/v1/procedures/recall', {
      question: words.question,
      scope: words.scope,
      min_position: position,
    });
    expect(recalled.body.matches).toEqual([]);
  });

  it('takes no further command, and says that it is gone', async () => {
    const id = erased.procedure_id;
    const answers = [
      await team.client.post(`/v1/procedures/${id}/executions`, { success: true, answer: 'late' }),
      await team.client.post(`/v1/procedures/${id}/restore`),
      await team.client.post(`/v1/executions/${erased.execution_id}/feedback`, { worked: true }),
    ];
    for (const { status, body } of answers) expect([status, body.code]).toEqual([410, 'erased']);
  });

  it('is erased once', async () => {
    const again = await team.client.delete(`/v1/procedures/${erased.procedure_id}`);
    expect([again.status, again.body, again.position]).toEqual([
      200,
      { procedure_id: erased.procedure_id, status: 'erased' },
      position,
    ]);
  });

  it('comes back under another id when it is remembered again', async () => {
    const again = await team.client.post<Remembered>('/v1/procedures', {
      question: words.question,
      scope: words.scope,
      version: words.version,
      graph: { [words.graph]: words.graph },
      run: { success: true },
    });
    expect(again.status).toBe(201);
    expect(again.body.procedure_id).not.toBe(erased.procedure_id);
    await team.client.delete(`/v1/procedures/${again.body.procedure_id}`);
  });

  it('stays gone when the read models are rebuilt', async () => {
    for (const name of ['procedures', 'judged_counters', 'event_refs', 'access'])
      await service.infrastructure.engine.rebuild(name);
    for (const word of Object.values(words)) expect(await rowsNaming(word)).toEqual([]);
  });

  it('keeps the hash chain of its log valid', async () => {
    const { verifyChain } = await import('../../src/event-log/hash-chain.js');
    const { log, codec } = service.infrastructure;
    const streams = new Map<string, Parameters<typeof verifyChain>[0][number][]>();
    for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix })) {
      streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
    }
    expect(streams.size).toBeGreaterThan(4);
    for (const events of streams.values()) expect(verifyChain(events)).toBeUndefined();
  });
});
