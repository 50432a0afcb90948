import { setTimeout as sleep } from 'node:timers/promises';
import { CommandTable } from '../../src/http/idempotency/command-table.js';
import { ReceiptPruner } from '../../src/http/idempotency/receipt-pruner.js';
import { Evaluator, type Judgement } from '../../src/judging/evaluator.js';
import { countEvents } from '../support/count-events.js';
import type { Client } from '../support/http.js';
import type { Remembered } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

class SlowEvaluator extends Evaluator {
  calls = 0;

  async judge(): Promise<Judgement> {
    this.calls += 1;
    await sleep(50);
    return { success: true };
  }
}

describe('a command with an Idempotency-Key', () => {
  const evaluator = new SlowEvaluator();
  let service: TestService;
  let team: TestTeam;
  let procedure: string;

  beforeAll(async () => {
    // Long, so that a thousand requests on a busy machine all get their turn.
    service = await startTestService({ evaluator, settings: { MNEME_IDEMPOTENCY_WAIT_MS: '60000' } });
    team = await newTeam(service);
    procedure = (await remember(team.client, {}, 'setup')).body.procedure_id;
  });
  afterAll(() => service.stop());

  const keyed = (key: string, more: Record<string, string> = {}) => ({ headers: { 'idempotency-key': key, ...more } });
  const remember = (client: Client, more: object, key: string) =>
    client.post<Remembered>('/v1/procedures', { question: 'q', graph: {}, run: { success: true }, ...more }, keyed(key));
  const run = (key: string, body: object = { success: true, answer: 'done' }) =>
    team.client.post<Remembered>(`/v1/procedures/${procedure}/executions`, body, keyed(key));
  const events = () => countEvents(service.infrastructure);
  const different = (answers: readonly { status: number; body: object; position: string; headers: Headers }[]) =>
    new Set(answers.map(({ status, body, position, headers }) => JSON.stringify([status, body, position, headers.get('etag')])))
      .size;

  it('is carried out once when 1,000 copies of a run come at once: one event, one judgement, 1,000 equal receipts', async () => {
    const before = await events();
    evaluator.calls = 0;
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => run('run-1000')));
    expect(answers[0]?.status).toBe(201);
    expect(different(answers)).toBe(1);
    expect(await events()).toBe(before + 1);
    expect(evaluator.calls).toBe(1);
  }, 60_000);

  it('is carried out once when 1,000 copies of a remember come at once: its two events once', async () => {
    const before = await events();
    const answers = await Promise.all(
      Array.from({ length: 1_000 }, () => remember(team.client, { version: 'crowd' }, 'remember-1000')),
    );
    expect(answers[0]?.status).toBe(201);
    expect(different(answers)).toBe(1);
    expect(await events()).toBe(before + 2);
  }, 60_000);

  it('gives the same receipt later, whatever happened in between', async () => {
    const first = await remember(team.client, { version: 'later' }, 'later');
    await team.client.post(`/v1/procedures/${first.body.procedure_id}/archive`);
    const again = await remember(team.client, { version: 'later' }, 'later');
    expect(different([first, again])).toBe(1);
    const second = await remember(team.client, { version: 'later' }, 'later-2');
    await team.client.post(`/v1/procedures/${first.body.procedure_id}/restore`);
    expect(different([second, await remember(team.client, { version: 'later' }, 'later-2')])).toBe(1);
  });

  it('is answered from its events when a crash came before its receipt was kept', async () => {
    const first = await run('crashed');
    const before = await events();
    await service.infrastructure.database.query('DELETE FROM mneme.commands');
    const again = await run('crashed');
    expect(different([first, again])).toBe(1);
    expect(await events()).toBe(before);
  });

  it('is answered from its events even when its procedure was archived and erased in between', async () => {
    const created = await remember(team.client, { version: 'gone' }, 'gone');
    const another = await remember(team.client, { version: 'gone' }, 'gone-again');
    const { procedure_id } = created.body;
    const ran = await team.client.post(`/v1/procedures/${procedure_id}/executions`, { success: true }, keyed('gone-run'));
    await team.client.post(`/v1/procedures/${procedure_id}/archive`);
    await team.client.delete(`/v1/procedures/${procedure_id}`);
    const before = await events();
    await service.infrastructure.database.query('DELETE FROM mneme.commands');
    expect(different([created, await remember(team.client, { version: 'gone' }, 'gone')])).toBe(1);
    expect(another.status).toBe(200);
    expect(different([another, await remember(team.client, { version: 'gone' }, 'gone-again')])).toBe(1);
    const again = await team.client.post(`/v1/procedures/${procedure_id}/executions`, { success: true }, keyed('gone-run'));
    expect(different([ran, again])).toBe(1);
    expect(await events()).toBe(before);
  });

  it.each<[string, () => Promise<{ status: number; body: object }>]>([
    ['another body', () => run('reused', { success: false, answer: 'done' })],
    ['another path', () => remember(team.client, { version: 'reused' }, 'reused')],
    [
      'another If-Match',
      () =>
        team.client.post(
          `/v1/procedures/${procedure}/executions`,
          { success: true, answer: 'done' },
          keyed('reused', { 'if-match': '"9"' }),
        ),
    ],
  ])('is refused under the key of %s', async (_, other) => {
    await run('reused');
    const before = await events();
    const answer = await other();
    expect([answer.status, answer.body]).toEqual([422, expect.objectContaining({ code: 'idempotency_key_reused' })]);
    expect(await events()).toBe(before);
  });

  it('is refused with another body also when a crash came before the receipt of the first was kept', async () => {
    const first = await run('crashed-reused');
    const remembered = await remember(team.client, { version: 'crashed' }, 'crashed-remember');
    const archive = (reason: string) =>
      team.client.post(`/v1/procedures/${remembered.body.procedure_id}/archive`, { reason }, keyed('crashed-archive'));
    const archived = await archive('old');
    const before = await events();
    await service.infrastructure.database.query('DELETE FROM mneme.commands');
    for (const answer of [
      await run('crashed-reused', { success: false, answer: 'done' }),
      await remember(team.client, { version: 'crashed', question: 'another' }, 'crashed-remember'),
      await archive('another reason'),
    ])
      expect([answer.status, answer.body]).toEqual([422, expect.objectContaining({ code: 'idempotency_key_reused' })]);
    expect(await events()).toBe(before);
    expect(different([first, await run('crashed-reused')])).toBe(1);
    expect(different([archived, await archive('old')])).toBe(1);
  });

  it('is the same request however its JSON is written', async () => {
    const body = ['{"success":true,"answer":"done"}', '{ "answer": "done", "success": true }'];
    const send = (text: string) => team.client.post(`/v1/procedures/${procedure}/executions`, text, keyed('spelling'));
    expect(different([await send(body[0] ?? ''), await send(body[1] ?? '')])).toBe(1);
  });

  it('is not remembered when it was refused: its key may be used again', async () => {
    const refused = await remember(
      team.client,
      { parent_id: '00000000-0000-4000-8000-00000000dead', version: 'second try' },
      'refused',
    );
    expect(refused.status).toBe(422);
    expect((await remember(team.client, { version: 'second try' }, 'refused')).status).toBe(201);
  });

  it.each(['1e999', '"text"', 'null', '[]', 'true'])('is refused as no object when its body is %s', async (body) => {
    const answer = await team.client.post('/v1/procedures', body, keyed('no-object'));
    expect([answer.status, answer.body.code]).toEqual([400, 'body_not_an_object']);
    const erase = await team.client.delete(`/v1/procedures/${procedure}`, { body, ...keyed('no-object') });
    expect([erase.status, erase.body.code]).toEqual([400, 'body_not_an_object']);
  });

  it('keeps no content in its receipt', async () => {
    await remember(team.client, { question: 'xyzzysecret', graph: { xyzzysecret: 1 }, version: 'xyzzysecret' }, 'xyzzysecret');
    const rows = await service.infrastructure.database.query<{ row: string }>('SELECT c::text AS row FROM mneme.commands AS c');
    expect(rows.length).toBeGreaterThan(4);
    expect(rows.filter(({ row }) => row.includes('xyzzysecret'))).toEqual([]);
  });

  it('is answered from its events when its receipt was pruned', async () => {
    const { database, configuration, logger } = service.infrastructure;
    const first = await run('old');
    await database.query(`UPDATE mneme.commands SET created_at = now() - interval '7 days 1 minute'`);
    await run('young');
    expect(await new ReceiptPruner(new CommandTable(database), configuration, logger).prune()).toBeGreaterThan(0);
    expect(await database.query('SELECT 1 FROM mneme.commands')).toHaveLength(1);
    const before = await events();
    expect(different([first, await run('old')])).toBe(1);
    await database.query('DELETE FROM mneme.commands');
    expect((await run('old', { success: false })).body).toMatchObject({ code: 'idempotency_key_reused' });
    expect(await events()).toBe(before);
  });
});

describe('a command that takes longer than equal ones wait', () => {
  class VerySlowEvaluator extends Evaluator {
    async judge(): Promise<Judgement> {
      await sleep(600);
      return { success: true };
    }
  }

  it('tells the later ones to come back, and then answers them all the same', async () => {
    const service = await startTestService({ settings: { MNEME_IDEMPOTENCY_WAIT_MS: '50' }, evaluator: new VerySlowEvaluator() });
    try {
      const { client } = await newTeam(service);
      const body = { question: 'q', graph: {}, run: { success: true, answer: 'slow' } };
      const send = () => client.post<Remembered>('/v1/procedures', body, { headers: { 'idempotency-key': 'slow' } });
      const first = send();
      await sleep(200);
      const second = await send();
      expect([second.status, second.body, second.headers.get('retry-after')]).toEqual([
        409,
        expect.objectContaining({ code: 'command_in_flight' }),
        '1',
      ]);
      expect((await first).status).toBe(201);
      expect((await send()).body).toEqual((await first).body);
    } finally {
      await service.stop();
    }
  });

  it('waits ten seconds unless told otherwise', async () => {
    const service = await startTestService();
    expect(service.infrastructure.configuration.idempotencyPatienceMs).toBe(10_000);
    await service.stop();
  });
});
