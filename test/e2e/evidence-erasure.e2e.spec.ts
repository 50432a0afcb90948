import { EvidenceClient } from '../support/evidence.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

/** Words that stand nowhere else, in every field a person can write. */
const words = {
  content: 'xyzzycontent',
  author: 'xyzzyauthor',
  scope: 'xyzzyscope',
  subject: 'xyzzysubject',
  source: 'xyzzysource',
  revision: 'xyzzyrevision',
  group: 'xyzzygroup',
  label: 'xyzzylabel',
  name: 'xyzzyname',
  value: 'xyzzyvalue',
  handle: 'xyzzyhandle',
  alias: 'xyzzyalias',
  reason: 'xyzzyreason',
  key: 'xyzzykey',
};

/** What may still name erased evidence or an erased source, and why. Everything else that does is residue. */
const tombstones: Readonly<Record<string, string>> = {
  'mneme.events': 'the log keeps that it happened; content is sealed and its key destroyed',
  'mneme.data_keys': 'the erased state itself, so that no key is ever made again',
  event_refs: 'where trace finds what happened, without content',
  erased_sources: 'so that evidence of an erased source is never recalled again',
  'mneme.commands': 'receipts, which hold ids and states only, so that a repeated command gets the same one',
};

describe('erased evidence and its erased source', () => {
  let service: TestService;
  let team: TestTeam;
  let evidence: EvidenceClient;
  let erased: { id: string; source: string };
  let position: string;
  const body = {
    content: words.content,
    author: words.author,
    scope: words.scope,
    subjects: [words.subject],
    source_key: words.source,
    source_revision: words.revision,
    group: words.group,
    sequence: 1,
    labels: [words.label],
    metadata: { [words.name]: words.value },
    external_id: words.handle,
  };

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    evidence = new EvidenceClient(team.client);
    const { id, source } = await evidence.remembered(body);
    erased = { id, source };
    await evidence.remember({ ...body, external_id: words.alias });
    await evidence.batch([{ ...body, idempotency_key: words.key }]);
    await evidence.publish(words.source, words.revision, { headers: { 'idempotency-key': `${words.key}-2` } });
    for (const change of ['quarantine', 'release', 'announce-supersession', 'withdraw-supersession'])
      await evidence.change(id, change, { reason: words.reason });
    const retracted = await evidence.change(id, 'retract', { reason: words.reason });
    await evidence.get(id, retracted.position);
    await service.infrastructure.database.query(
      `INSERT INTO mneme.vector_cache VALUES ('${team.id}', 'hmac', 'contract', '${id}', '[1,2,3]')`,
    );
    await service.infrastructure.database.query('ANALYZE');
    expect(await rowsNaming(id)).toEqual(
      expect.arrayContaining(
        ['evidence', 'evidence_history', 'evidence_aliases', 'evidence_subjects', 'evidence_labels', 'vector_cache'].map(
          (table) => expect.stringMatching(new RegExp(`\\.${table}$`)) as string,
        ),
      ),
    );
    expect(await rowsNaming(words.source)).toEqual(
      expect.arrayContaining([expect.stringMatching(/\.sources$/), expect.stringMatching(/\.evidence$/)]),
    );
    const answer = await evidence.erase(id);
    expect([answer.status, answer.body]).toEqual([200, { evidence_id: id, status: 'erased' }]);
    ({ position } = await team.client.delete(`/v1/sources/${source}`));
    await evidence.list({}, position);
  });
  afterAll(() => service.stop());

  /** Every table of ours, whatever schema or projection it belongs to, that has a row with this text anywhere in it. */
  async function rowsNaming(text: string): Promise<string[]> {
    const { database } = service.infrastructure;
    const tables = await database.query<{ schema: string; name: string }>(
      `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
       WHERE table_type = 'BASE TABLE' AND table_schema ~ '^mneme' ORDER BY 1, 2`,
    );
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

  it.each(Object.entries(words))('leave no %s in any table', async (_, word) => expect(await rowsNaming(word)).toEqual([]));

  it('leave their ids in no table but the declared tombstones', async () => {
    const allowed = (table: string) =>
      table.startsWith('statistics of') || Object.keys(tombstones).some((name) => table === name || table.endsWith(`.${name}`));
    for (const id of [erased.id, erased.source]) expect((await rowsNaming(id)).filter((table) => !allowed(table))).toEqual([]);
  });

  it('lose their keys at once', async () => {
    const { keys } = service.infrastructure;
    const refs = [erased.id, erased.source].map((owner) => ({ team: team.id, owner }));
    const ring = await keys.fetch(refs);
    expect(refs.map((ref) => ring.get(ref).state)).toEqual(['erased', 'erased']);
  });

  it('are gone from every read', async () => {
    expect((await evidence.get(erased.id, position)).status).toBe(404);
    expect((await team.client.get(`/v1/sources/${erased.source}`)).status).toBe(404);
    expect(await evidence.list({})).toEqual([]);
    for (const query of [{ external_id: words.alias }, { subject: words.subject }, { label: words.label }])
      expect(await evidence.list(query)).toEqual([]);
    expect((await team.client.get<{ items: unknown[] }>('/v1/sources')).body.items).toEqual([]);
  });

  it('take no further command, and say that they are gone', async () => {
    for (const change of ['quarantine', 'release', 'announce-supersession', 'withdraw-supersession', 'retract']) {
      const answer = await evidence.change(erased.id, change);
      expect([change, answer.status, answer.body.code]).toEqual([change, 410, 'erased']);
    }
    const superseded = await evidence.change(erased.id, 'supersede', { replacement_id: erased.id });
    expect([superseded.status, superseded.body.code]).toEqual([410, 'erased']);
  });

  it('are erased once', async () => {
    const again = await evidence.erase(erased.id);
    expect([again.status, again.body]).toEqual([200, { evidence_id: erased.id, status: 'erased' }]);
    const source = await team.client.delete(`/v1/sources/${erased.source}`);
    expect([source.status, source.body, source.position]).toEqual([
      200,
      { source_id: erased.source, status: 'erased' },
      position,
    ]);
  });

  it('come back under other ids when they are remembered and published again', async () => {
    const again = await evidence.remembered(body);
    expect([again.id === erased.id, again.source === erased.source]).toEqual([false, false]);
    const published = await evidence.publish(words.source, words.revision);
    expect(published.body).toEqual({ source_id: again.source, number: 1, outcome: 'published' });
    expect((await evidence.get(again.id, published.position)).body).toMatchObject({
      external_ids: [words.handle],
      eligible: true,
    });
    await evidence.erase(again.id);
    const { position: last } = await team.client.delete(`/v1/sources/${again.source}`);
    await evidence.list({}, last);
  });

  it('stay gone when the read models are rebuilt', async () => {
    for (const name of ['evidence', 'event_refs']) await service.infrastructure.engine.rebuild(name);
    for (const word of Object.values(words)) expect(await rowsNaming(word)).toEqual([]);
  });

  it('keep the hash chain of the log valid', async () => {
    const { verifyChain } = await import('../../src/event-log/hash-chain.js');
    const { log, codec } = service.infrastructure;
    const streams = new Map<string, Parameters<typeof verifyChain>[0][number][]>();
    for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix }))
      streams.set(event.stream, [...(streams.get(event.stream) ?? []), event]);
    for (const events of streams.values()) expect(verifyChain(events)).toBeUndefined();
  });
});
