import { EvidenceClient } from '../support/evidence.js';
import { rememberVersion, type Recalled, type Remembered } from '../support/remember.js';
import { type Answer, Client } from '../support/http.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string; requestBody?: unknown }>>>>;
}

const unknown = '11111111-2222-4333-8444-555555555555';

/** A body that each write takes, so that the id alone decides. */
const bodies: Readonly<Record<string, object>> = {
  record_execution: { success: true },
  record_feedback: { worked: true },
  prune_executions: { before: '2026-01-01T00:00:00Z' },
  change_team_settings: { review: true },
  supersede_evidence: { replacement_id: unknown },
};

describe('two teams', () => {
  let service: TestService;
  let mine: TestTeam;
  let theirs: TestTeam;
  let owned: Readonly<Record<string, string>>;
  let document: OpenApi;

  beforeAll(async () => {
    service = await startTestService();
    mine = await newTeam(service, 'Mine');
    theirs = await newTeam(service, 'Theirs');
    const { body, position } = await theirs.client.post<Remembered>('/v1/procedures', {
      question: 'How do I refund an order?',
      graph: {},
      run: { success: true },
    });
    const evidence = new EvidenceClient(theirs.client);
    const remembered = await evidence.remembered({ content: 'Theirs.', source_key: 'book', source_revision: 'r1' });
    await evidence.publish('book', 'r1');
    const keys = await theirs.client.get<{ items: { key_id: string }[] }>(`/v1/keys?min_position=${position}`);
    owned = {
      evidence: remembered.id,
      sources: remembered.source,
      procedures: body.procedure_id,
      executions: body.execution_id,
      teams: theirs.id,
      profiles: theirs.profile,
      keys: keys.body.items[0]?.key_id ?? '',
    };
    document = (await service.anonymous.get('/openapi.json')).body as unknown as OpenApi;
  });
  afterAll(() => service.stop());

  const withIds = () =>
    Object.entries(document.paths).flatMap(([path, operations]) =>
      path.includes('{id}') ? Object.entries(operations).map(([method, { operationId }]) => ({ path, method, operationId })) : [],
    );
  /** An answer without what differs between any two answers. */
  const comparable = ({ status, body, headers }: Answer) => ({
    status,
    body: { ...body, correlation_id: undefined },
    headers: [...headers.entries()].filter(([name]) => !['x-correlation-id', 'date', 'ratelimit'].includes(name)),
  });

  it('has endpoints with ids to look at', () => expect(withIds().length).toBeGreaterThanOrEqual(14));

  it('tells a foreign id and an unknown one apart nowhere', async () => {
    for (const { path, method, operationId } of withIds()) {
      const kind = path.split('/')[2] ?? '';
      const foreign = owned[kind];
      if (!foreign) throw new Error(`${operationId}: no foreign ${kind} to try`);
      const call = (id: string) =>
        mine.client.send<Record<string, unknown>>(
          method.toUpperCase(),
          path.replace('{id}', id),
          method === 'get' ? {} : { body: bodies[operationId] ?? {} },
        );
      const [other, none] = [await call(foreign), await call(unknown)];
      expect({ operationId, ...comparable(other) }).toEqual({ operationId, ...comparable(none) });
      expect({ operationId, status: other.status }).toEqual({ operationId, status: 404 });
    }
  });

  it('takes a foreign parent for an unknown one', async () => {
    const remember = (parent_id: string) =>
      mine.client.post('/v1/procedures', { question: 'q', graph: {}, run: { success: true }, parent_id });
    const [other, none] = [await remember(owned.procedures ?? ''), await remember(unknown)];
    expect(comparable(other)).toEqual(comparable(none));
    expect(other.status).toBe(422);
  });

  it('takes a foreign replacement of evidence for an unknown one', async () => {
    const evidence = new EvidenceClient(mine.client);
    const { id } = await evidence.remembered({ content: 'Mine.' });
    const supersede = (replacement_id: string) => mine.client.post(`/v1/evidence/${id}/supersede`, { replacement_id });
    const [other, none] = [await supersede(owned.evidence ?? ''), await supersede(unknown)];
    expect(comparable(other)).toEqual(comparable(none));
    expect(other.status).toBe(422);
  });

  it('sees no evidence and no source of the other in any list, whatever it asks for', async () => {
    const evidence = new EvidenceClient(mine.client);
    const { id, source, position } = await evidence.remembered({ content: 'Theirs.', source_key: 'book', source_revision: 'r1' });
    expect([id === owned.evidence, source === owned.sources]).toEqual([false, false]);
    const ids = async (query: Record<string, string>) =>
      (await evidence.list(query, position)).map(({ evidence_id }) => evidence_id);
    expect(await ids({})).not.toContain(owned.evidence);
    expect(await ids({ source_id: owned.sources ?? '' })).toEqual([]);
    expect(await ids({ profile_id: theirs.profile })).toEqual([]);
    const sources = await mine.client.get<{ items: unknown[] }>('/v1/sources?key=book');
    expect(sources.body.items).toEqual([]);
    // Their published revision makes nothing of mine non-current.
    const other = await evidence.remembered({ content: 'Mine.', source_key: 'book', source_revision: 'r0' });
    expect((await evidence.get(other.id, other.position)).body).toMatchObject({ revision_current: true, eligible: true });
  });

  it('sees no row of the other in any list or recall', async () => {
    const own = await rememberVersion(mine.client);
    const list = await mine.client.get<{ items: { procedure_id: string }[] }>(`/v1/procedures?min_position=${own.position}`);
    expect(list.body.items.map(({ procedure_id }) => procedure_id)).toEqual([own.id]);
    const recalled = await mine.client.post<Recalled>('/v1/procedures/recall', {
      question: 'How do I refund an order?',
      min_similarity: 0,
      top: 50,
      min_position: own.position,
    });
    expect(recalled.body.matches.map(({ procedure }) => procedure.procedure_id)).toEqual([own.id]);
  });

  it('makes different memories of the same words', async () => {
    const remember = (client: Client) =>
      client.post<Remembered>('/v1/procedures', { question: 'same', graph: {}, run: { success: true } });
    const ids = [(await remember(mine.client)).body.procedure_id, (await remember(theirs.client)).body.procedure_id];
    expect(new Set(ids).size).toBe(2);
  });

  it('shares no idempotency key', async () => {
    const headers = { 'idempotency-key': 'the-same' };
    const remember = (client: Client) =>
      client.post<Remembered>('/v1/procedures', { question: 'keyed', graph: {}, run: { success: true } }, { headers });
    const [first, second] = [await remember(mine.client), await remember(theirs.client)];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(first.body.procedure_id).not.toBe(second.body.procedure_id);
  });

  it('finds no row of the other through the database either, whatever table it asks', async () => {
    const { database } = service.infrastructure;
    const views = await database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.views WHERE table_schema = 'mneme_read'`,
    );
    expect(views.length).toBeGreaterThan(5);
    for (const { name } of views) {
      const [row] = await database.asTeam(mine.id, (queries) =>
        queries.query<{ foreign_rows: number }>(
          `SELECT count(*)::int AS foreign_rows FROM mneme_read."${name}" WHERE team_id <> '${mine.id}'`,
        ),
      );
      expect({ name, foreign_rows: row?.foreign_rows }).toEqual({ name, foreign_rows: 0 });
    }
  });

  describe('keys', () => {
    it.each([
      ['none', undefined],
      ['one nobody has', 'mneme_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'],
    ])('lets nobody in with %s', async (_, key) => {
      const answer = await new Client(service.url, key).get('/v1/procedures');
      expect([answer.status, answer.body]).toEqual([401, expect.objectContaining({ code: 'unauthenticated' })]);
    });

    it('holds every memory endpoint to its scope', async () => {
      const reader = await mine.clientWith(['memory:read']);
      const writer = await mine.clientWith(['memory:write']);
      expect((await reader.post('/v1/procedures', { question: 'q', graph: {}, run: { success: true } })).status).toBe(403);
      expect((await writer.get('/v1/procedures')).status).toBe(403);
      expect((await writer.post('/v1/procedures/recall', { question: 'q' })).status).toBe(403);
    });

    it('shows an operator no memory', async () => {
      for (const path of [
        ...['/v1/procedures', `/v1/procedures/${owned.procedures}`, `/v1/procedures/${owned.procedures}/trace`],
        ...['/v1/evidence', `/v1/evidence/${owned.evidence}`, `/v1/evidence/${owned.evidence}/trace`, '/v1/sources'],
      ]) {
        expect((await service.operator.get(path)).status).toBe(403);
      }
    });

    it('lets an author erase what it wrote, and nobody else but an administrator', async () => {
      const remembered = await rememberVersion(mine.client, { version: 'authored' });
      const stranger = await mine.clientWith(['erase'], await mine.newProfile('Stranger'));
      const refused = await stranger.delete(`/v1/procedures/${remembered.id}`);
      expect([refused.status, refused.body]).toEqual([403, expect.objectContaining({ code: 'not_the_author' })]);
      const author = await mine.clientWith(['erase']);
      expect((await author.delete(`/v1/procedures/${remembered.id}`)).status).toBe(200);
    });
  });
});
