import { EvidenceClient, type Problem } from '../support/evidence.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface SourceBody extends Problem {
  readonly source_id: string;
  readonly key: string;
  readonly current_revision: string;
  readonly number: number;
  readonly profile_id: string;
  readonly revision: number;
  readonly revisions: readonly { readonly number: number; readonly revision: string; readonly profile_id: string }[];
}

describe('sources over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  let evidence: EvidenceClient;
  let keys = 0;
  const newKey = () => `source ${(keys += 1)}`;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    evidence = new EvidenceClient(team.client);
  });
  afterAll(() => service.stop());

  const source = async (id: string, position = '') =>
    team.client.get<SourceBody>(`/v1/sources/${id}${position === '' ? '' : `?min_position=${position}`}`);
  const eligible = async (id: string, position: string) => (await evidence.get(id, position)).body.eligible;

  describe('publishing', () => {
    it('makes a revision the current one, and numbers it', async () => {
      const key = newKey();
      const first = await evidence.publish(key, 'r1');
      expect([first.status, first.body]).toEqual([
        201,
        { source_id: expect.any(String) as string, number: 1, outcome: 'published' },
      ]);
      expect(first.headers.get('etag')).toBe('"0"');
      const second = await evidence.publish(key, 'r2');
      expect(second.body).toEqual({ ...first.body, number: 2 });
      const read = await source(first.body.source_id, second.position);
      expect(read.headers.get('etag')).toBe('"1"');
      expect(read.body).toMatchObject({ key, current_revision: 'r2', number: 2, profile_id: team.profile, revision: 1 });
      expect(read.body.revisions.map(({ number, revision }) => [number, revision])).toEqual([
        [2, 'r2'],
        [1, 'r1'],
      ]);
    });

    it('the current one again changes nothing', async () => {
      const key = newKey();
      const first = await evidence.publish(key, 'r1');
      const again = await evidence.publish(key, 'r1');
      expect([again.status, again.body, again.position]).toEqual([200, { ...first.body, outcome: 'unchanged' }, first.position]);
    });

    it('at the same moment numbers each once', async () => {
      const key = newKey();
      const answers = await Promise.all(['a', 'b', 'c', 'd'].map((revision) => evidence.publish(key, revision)));
      expect(answers.map(({ body }) => body.number).sort()).toEqual([1, 2, 3, 4]);
      expect(new Set(answers.map(({ body }) => body.source_id)).size).toBe(1);
    });

    it('is repeated under its key, whatever came after', async () => {
      const key = newKey();
      const once = { headers: { 'idempotency-key': 'publish-once' } };
      const first = await evidence.publish(key, 'r1', once);
      await evidence.publish(key, 'r2');
      await service.infrastructure.database.query('DELETE FROM mneme.commands');
      const again = await evidence.publish(key, 'r1', once);
      expect([again.status, again.body, again.position]).toEqual([201, first.body, first.position]);
      expect((await source(first.body.source_id)).body.current_revision).toBe('r2');
    });

    it('takes a version', async () => {
      const key = newKey();
      await evidence.publish(key, 'r1');
      const late = await evidence.publish(key, 'r3', { headers: { 'if-match': '"4"' } });
      expect([late.status, late.body.code]).toEqual([412, 'version_conflict']);
    });

    it.each([
      ['no key', { revision: 'r1' }, 422],
      ['no revision', { key: 'k' }, 422],
      ['a blank key', { key: ' ', revision: 'r1' }, 422],
      ['a key too long', { key: 'k'.repeat(501), revision: 'r1' }, 422],
      ['a revision too long', { key: 'k', revision: 'r'.repeat(129) }, 422],
      ['an unknown field', { key: 'k', revision: 'r1', more: 1 }, 400],
    ])('refuses %s', async (_, body, status) =>
      expect((await team.client.post('/v1/sources/revisions', body)).status).toBe(status),
    );

    it('needs a key that may write', async () => {
      const reader = await team.clientWith(['memory:read']);
      expect((await reader.post('/v1/sources/revisions', { key: 'k', revision: 'r1' })).status).toBe(403);
    });
  });

  describe('evidence of a source', () => {
    const ofRevision = (key: string, source_revision: string | null) =>
      evidence.remembered({ content: `From ${key}, ${source_revision}.`, source_key: key, source_revision });

    it('is current in every revision while none is published', async () => {
      const key = newKey();
      const [one, two] = [await ofRevision(key, 'r1'), await ofRevision(key, 'r2')];
      expect(one.source).toBe(two.source);
      expect([await eligible(one.id, two.position), await eligible(two.id, two.position)]).toEqual([true, true]);
    });

    it('is current in the revision that is published last, and in no other', async () => {
      const key = newKey();
      const [one, two, none] = [await ofRevision(key, 'r1'), await ofRevision(key, 'r2'), await ofRevision(key, null)];
      const after = async (revision: string) => {
        const { position, body } = await evidence.publish(key, revision);
        expect(body.source_id).toBe(one.source);
        const states = [];
        for (const { id } of [one, two, none]) states.push((await evidence.get(id, position)).body.revision_current);
        return states;
      };
      expect(await after('r1')).toEqual([true, false, true]);
      expect(await after('r2')).toEqual([false, true, true]);
      expect(await after('r3')).toEqual([false, false, true]);
      expect(await after('r1')).toEqual([true, false, true]);
      expect((await evidence.get(two.id)).body).toMatchObject({ status: 'current', revision_current: false, eligible: false });
      const listed = await evidence.list({ source_id: one.source, eligible: 'true' });
      expect(listed.map(({ evidence_id }) => evidence_id)).toEqual([none.id, one.id]);
    });

    it('may be remembered before its revision is published, and waits for it', async () => {
      const key = newKey();
      await evidence.publish(key, 'r1');
      const { id, position } = await ofRevision(key, 'r2');
      expect(await eligible(id, position)).toBe(false);
      expect(await eligible(id, (await evidence.publish(key, 'r2')).position)).toBe(true);
    });

    it('under the same text in a new revision is a new memory', async () => {
      const key = newKey();
      const text = { content: 'Unchanged.', source_key: key };
      const one = await evidence.remembered({ ...text, source_revision: 'r1' });
      const two = await evidence.remembered({ ...text, source_revision: 'r2' });
      expect(one.id).not.toBe(two.id);
    });
  });

  describe('browsing', () => {
    it('pages through the sources, the latest first, and finds one by its key', async () => {
      const other = await newTeam(service, 'Sources');
      const client = new EvidenceClient(other.client);
      let position = '';
      for (const key of ['a', 'b', 'c']) ({ position } = await client.publish(key, 'r1'));
      const list = async (query: string) =>
        (
          await other.client.get<{ items: SourceBody[]; next_cursor: string | null }>(
            `/v1/sources?min_position=${position}${query}`,
          )
        ).body;
      const first = await list('&limit=2');
      expect(first.items.map(({ key }) => key)).toEqual(['c', 'b']);
      const second = await list(`&limit=2&cursor=${first.next_cursor}`);
      expect([second.items.map(({ key }) => key), second.next_cursor]).toEqual([['a'], null]);
      expect((await list('&key=b')).items.map(({ key }) => key)).toEqual(['b']);
    });

    it('shows none that has only evidence', async () => {
      const { source: id, position } = await evidence.remembered({ content: 'Of an unpublished source.', source_key: newKey() });
      expect((await source(id, position)).status).toBe(404);
    });
  });

  describe('erasing', () => {
    it('takes its key and its revisions; its evidence stays, but is recalled no more', async () => {
      const key = newKey();
      const content = 'From a source that is erased.';
      const { body } = await evidence.publish(key, 'r1');
      const one = await evidence.remembered({ content, source_key: key, source_revision: 'r1' });
      const answer = await team.client.delete(`/v1/sources/${body.source_id}`);
      expect([answer.status, answer.body]).toEqual([200, { source_id: body.source_id, status: 'erased' }]);
      expect((await source(body.source_id, answer.position)).status).toBe(404);
      expect((await evidence.get(one.id, answer.position)).body).toMatchObject({
        content,
        status: 'current',
        source_erased: true,
        eligible: false,
      });
      expect(await evidence.list({ source_id: one.source, eligible: 'true' })).toEqual([]);
    });

    it('is for who published first, and for an administrator', async () => {
      const { body } = await evidence.publish(newKey(), 'r1');
      const stranger = await team.clientWith(['erase'], await team.newProfile('Stranger'));
      const refused = await stranger.delete<Problem>(`/v1/sources/${body.source_id}`);
      expect([refused.status, refused.body.code]).toEqual([403, 'not_the_owner']);
      const publisher = await team.clientWith(['erase']);
      expect((await publisher.delete(`/v1/sources/${body.source_id}`)).status).toBe(200);
      expect((await publisher.delete(`/v1/sources/${body.source_id}`)).status).toBe(200);
    });

    it('leaves its key to a new source, and the same text to a new memory', async () => {
      const key = newKey();
      const text = { content: 'Said again.', source_key: key, source_revision: 'r1' };
      const first = await evidence.publish(key, 'r1');
      const one = await evidence.remembered(text);
      await team.client.delete(`/v1/sources/${first.body.source_id}`);
      const again = await evidence.remembered(text);
      expect([again.id === one.id, again.source === one.source]).toEqual([false, false]);
      const second = await evidence.publish(key, 'r1');
      expect(second.body).toEqual({ source_id: again.source, number: 1, outcome: 'published' });
      expect(await eligible(again.id, second.position)).toBe(true);
      expect(await eligible(one.id, second.position)).toBe(false);
    });

    it('makes no second memory of a remember that is repeated', async () => {
      const key = newKey();
      const text = { content: 'Said once.', source_key: key };
      const once = { headers: { 'idempotency-key': 'remember-once' } };
      const { body } = await evidence.publish(key, 'r1');
      const one = await evidence.remember(text, once);
      await team.client.delete(`/v1/sources/${body.source_id}`);
      await service.infrastructure.database.query('DELETE FROM mneme.commands');
      expect((await evidence.remember(text, once)).body).toEqual(one.body);
    });
  });
});
