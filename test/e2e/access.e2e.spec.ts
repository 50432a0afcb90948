import fc from 'fast-check';
import { createHash, randomUUID } from 'node:crypto';
import { type Answer, Client } from '../support/http.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}
interface Problem {
  code: string;
  field?: string;
  correlation_id: string;
}
interface Issued {
  key_id: string;
  key: string | null;
}

describe('access', () => {
  let service: TestService;
  let team: TestTeam;
  let other: TestTeam;
  let admin: Client;

  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service, 'Support');
    other = await newTeam(service, 'Sales');
    admin = await team.clientWith(['admin']);
  });
  afterAll(() => service.stop());

  const database = () => service.infrastructure.database;
  const withKey = (key: string | null) => new Client(service.url, key ?? 'none');
  const works = async (key: string | null) => (await withKey(key).get('/v1/procedures')).status;
  const issue = (body: object = {}, options: object = {}) =>
    service.operator.post<Issued>(
      '/v1/keys',
      { team_id: team.id, profile_id: team.profile, scopes: ['memory:read'], ...body },
      options,
    );
  const idempotent = (key: string) => ({ headers: { 'idempotency-key': key } });

  describe('teams', () => {
    it('are created by operators, and can be read back at once', async () => {
      const created = await service.operator.post<{ team_id: string }>('/v1/teams', { name: 'Ops', settings: { review: true } });
      expect(created.status).toBe(201);
      expect(created.headers.get('etag')).toBe('"0"');
      const listed = await service.operator.get<Page<object>>(`/v1/teams?limit=200&min_position=${created.position}`);
      expect(listed.body.items).toContainEqual({
        team_id: created.body.team_id,
        name: 'Ops',
        settings: { review: true, language: 'english', recording: false, execution_retention_days: null },
        created_at: expect.any(String) as string,
      });
    });

    it('are not created by the key of a team', async () => {
      const answer = await admin.post<Problem>('/v1/teams', { name: 'Mine' });
      expect([answer.status, answer.body.code]).toEqual([403, 'operator_required']);
    });

    it('are listed to their own administrator alone', async () => {
      const { body } = await admin.get<Page<{ team_id: string }>>('/v1/teams');
      expect(body.items.map(({ team_id }) => team_id)).toEqual([team.id]);
    });

    it('change the settings that are named, at the version that is expected', async () => {
      const { id } = await newTeam(service, 'Settings');
      const path = `/v1/teams/${id}/settings`;
      const changed = await service.operator.patch(path, { language: 'german' });
      expect(changed.status).toBe(200);
      const stale = await service.operator.send<Problem & { current_version: number }>('PATCH', path, {
        body: { review: true },
        headers: { 'if-match': '"0"' },
      });
      const current = changed.headers.get('etag') ?? '';
      expect([stale.status, stale.body.code, stale.headers.get('etag')]).toEqual([412, 'version_conflict', current]);
      expect(`"${stale.body.current_version}"`).toBe(current);
      const fresh = await service.operator.send('PATCH', path, {
        body: { review: true },
        headers: { 'if-match': `W/${current}` },
      });
      expect(fresh.status).toBe(200);
      const { body } = await service.operator.get<Page<{ team_id: string; settings: object }>>(
        `/v1/teams?limit=200&min_position=${fresh.position}`,
      );
      expect(body.items.find(({ team_id }) => team_id === id)?.settings).toEqual({
        review: true,
        language: 'german',
        recording: false,
        execution_retention_days: null,
      });
    });

    it('set a retention of runs, and take it back with null', async () => {
      const { id } = await newTeam(service, 'Retention');
      const retentionAfter = async (days: number | null) => {
        const { position } = await service.operator.patch(`/v1/teams/${id}/settings`, { execution_retention_days: days });
        const { body } = await service.operator.get<Page<{ team_id: string; settings: { execution_retention_days: unknown } }>>(
          `/v1/teams?limit=200&min_position=${position}`,
        );
        return body.items.find(({ team_id }) => team_id === id)?.settings.execution_retention_days;
      };
      expect([await retentionAfter(36_500), await retentionAfter(1), await retentionAfter(null)]).toEqual([36_500, 1, null]);
    });

    it('may be created with a retention', async () => {
      const settings = { execution_retention_days: 90 };
      const { body, position } = await service.operator.post<{ team_id: string }>('/v1/teams', { name: 'Forgetful', settings });
      const listed = await service.operator.get<Page<object>>(`/v1/teams?limit=200&min_position=${position}`);
      expect(listed.body.items).toContainEqual(
        expect.objectContaining({ team_id: body.team_id, settings: expect.objectContaining(settings) as object }),
      );
    });

    it('write nothing when the settings are so already', async () => {
      const first = await admin.patch(`/v1/teams/${team.id}/settings`, { recording: true });
      const again = await admin.patch(`/v1/teams/${team.id}/settings`, { recording: true });
      expect(again.status).toBe(200);
      expect([again.position, again.headers.get('etag')]).toEqual([first.position, first.headers.get('etag')]);
    });

    it.each([
      [{ language: 'klingon' }],
      [{ review: 'yes' }],
      [{ recording: 1 }],
      [{ execution_retention_days: 0 }],
      [{ execution_retention_days: 36_501 }],
      [{ execution_retention_days: 1.5 }],
      [{ execution_retention_days: 'off' }],
    ])('refuse settings that there are not: %j', async (body) => {
      const answer = await admin.patch<Problem>(`/v1/teams/${team.id}/settings`, body);
      expect([answer.status, answer.body.code, answer.body.field]).toEqual([422, 'validation_failed', Object.keys(body)[0]]);
    });
  });

  describe('another team', () => {
    /** Every request of a team's administrator that can name a team, by the answer's status and body. */
    const requests = (id: string): (() => Promise<Answer>)[] => [
      () => admin.patch(`/v1/teams/${id}/settings`, { review: true }),
      () => admin.post('/v1/profiles', { team_id: id, name: 'x' }),
      () => admin.get(`/v1/profiles?team_id=${id}`),
      () => admin.post(`/v1/profiles/${other.profile}/deactivate`, { team_id: id }),
      () => admin.post('/v1/keys', { team_id: id, scopes: ['admin'] }),
      () => admin.get(`/v1/keys?team_id=${id}`),
      () => admin.post(`/v1/keys/${randomUUID()}/revoke`, { team_id: id }),
    ];

    it('answers like one that does not exist, but for the correlation id', async () => {
      const unknown = requests(randomUUID());
      for (const [index, request] of requests(other.id).entries()) {
        const [real, none] = [await request(), await unknown[index]?.()];
        expect(real.status).toBe(404);
        expect(none?.status).toBe(404);
        expect({ ...real.body, correlation_id: none?.body.correlation_id }).toEqual(none?.body);
      }
    });

    it('cannot have its profiles or keys touched by naming their ids alone', async () => {
      const { key_id } = (await issue({ team_id: other.id, profile_id: other.profile })).body;
      expect((await admin.post(`/v1/profiles/${other.profile}/deactivate`)).status).toBe(404);
      expect((await admin.post(`/v1/keys/${key_id}/revoke`)).status).toBe(404);
    });

    it('answers operators 404 as well when it does not exist', async () => {
      const nobody = randomUUID();
      for (const request of [
        service.operator.patch(`/v1/teams/${nobody}/settings`, { review: true }),
        service.operator.post('/v1/profiles', { team_id: nobody, name: 'x' }),
        service.operator.get(`/v1/profiles?team_id=${nobody}`),
        service.operator.post('/v1/keys', { team_id: nobody, scopes: ['admin'] }),
        service.operator.get(`/v1/keys?team_id=${nobody}`),
        service.operator.get('/v1/keys?team_id=00000000-0000-0000-0000-000000000000'),
      ]) {
        expect(await request).toMatchObject({ status: 404, body: { code: 'not_found' } });
      }
    });

    it('is out of reach of the database role of requests, and key hashes are for nobody but the system', async () => {
      const seen = await database().asTeam(team.id, (queries) =>
        queries.query<{ team_id: string }>('SELECT DISTINCT team_id FROM mneme_read.api_keys'),
      );
      expect(seen).toEqual([{ team_id: team.id }]);
      await expect(
        database().asTeam(team.id, (queries) => queries.query('SELECT FROM mneme.api_key_hashes')),
      ).rejects.toMatchObject({ sqlState: '42501' });
    });
  });

  describe('profiles', () => {
    it('must be named a team by operators', async () => {
      const answer = await service.operator.post<Problem>('/v1/profiles', { name: 'x' });
      expect([answer.status, answer.body.field]).toEqual([422, 'team_id']);
      expect((await service.operator.get('/v1/profiles')).status).toBe(422);
    });

    it('when deactivated have keys that do not work, until they are reactivated', async () => {
      const profile = await team.newProfile('temp');
      const { key } = (await issue({ profile_id: profile })).body;
      expect(await works(key)).toBe(200);
      const off = await admin.post(`/v1/profiles/${profile}/deactivate`);
      await admin.get(`/v1/profiles?min_position=${off.position}`);
      expect(await works(key)).toBe(401);
      expect((await issue({ profile_id: profile })).body).toMatchObject({ code: 'profile_deactivated', field: 'profile_id' });
      const on = await admin.post(`/v1/profiles/${profile}/reactivate`);
      const { body } = await admin.get<Page<{ profile_id: string; status: string }>>(
        `/v1/profiles?limit=200&min_position=${on.position}`,
      );
      expect(body.items.find(({ profile_id }) => profile_id === profile)?.status).toBe('active');
      expect(await works(key)).toBe(200);
    });

    it('come in pages, each once, in the order of their creation', async () => {
      const paged = await newTeam(service, 'Paged');
      let last = '';
      for (const name of ['b', 'a', 'd', 'c'])
        last = (await service.operator.post('/v1/profiles', { team_id: paged.id, name })).position;
      const names: (string | null)[] = [];
      let cursor: string | null = '';
      for (let pages = 0; cursor !== null && pages < 5; pages += 1) {
        const after: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { body }: { body: Page<{ name: string }> } = await service.operator.get<Page<{ name: string }>>(
          `/v1/profiles?team_id=${paged.id}&limit=2&min_position=${last}${after}`,
        );
        expect(body.items.length).toBeLessThanOrEqual(2);
        names.push(...body.items.map(({ name }) => name));
        cursor = body.next_cursor;
      }
      expect(names).toEqual(['Author', 'b', 'a', 'd', 'c']);
    });

    it.each(['limit=0', 'limit=201', 'limit=x', 'cursor=x', 'cursor=%20', 'min_position=x', 'limit=1&limit=2'])(
      'refuse the query %s, and say which field',
      async (query) => {
        const answer = await admin.get<Problem>(`/v1/profiles?${query}`);
        expect([answer.status, answer.body.field]).toEqual([422, query.split('=')[0]]);
      },
    );
  });

  describe('keys', () => {
    it('work as soon as they are issued, and are shown that once', async () => {
      const { status, body } = await issue({ name: 'ci' });
      expect(status).toBe(201);
      expect(body.key).toMatch(/^mneme_[A-Za-z0-9_-]{43}$/);
      expect(await works(body.key)).toBe(200);
      const listed = await admin.get<Page<{ key_id: string }>>('/v1/keys?limit=200');
      expect(listed.body.items.find(({ key_id }) => key_id === body.key_id)).toMatchObject({
        team_id: team.id,
        profile_id: team.profile,
        name: 'ci',
        scopes: ['memory:read'],
        expires_at: null,
        revoked: false,
      });
      expect(JSON.stringify(listed.body)).not.toContain(body.key);
    });

    it('stand nowhere in the database, in the log neither as hash, and names are sealed', async () => {
      const { body } = await issue({ name: 'hunter2' });
      const [hash] = await database().as('mneme_system', (queries) =>
        queries.query<{ key_hash: Buffer }>('SELECT key_hash FROM mneme.api_key_hashes WHERE key_id = $1', [body.key_id]),
      );
      if (!hash || body.key === null) throw new Error('the key was not issued');
      let events = '';
      for await (const { data, metadata } of service.infrastructure.log.readAll({
        after: -1n,
        prefix: service.infrastructure.codec.streamPrefix,
      }))
        events += data + metadata;
      expect(events).toContain(body.key_id);
      const secrets = [
        body.key,
        body.key.slice('mneme_'.length),
        hash.key_hash.toString('hex'),
        hash.key_hash.toString('base64'),
      ];
      for (const secret of [...secrets, 'hunter2']) expect(events).not.toContain(secret);
      expect(hash.key_hash).toHaveLength(32);
      expect(hash.key_hash).not.toEqual(createHash('sha256').update(body.key).digest());
    });

    it('end with the answer that revokes them, even while the read models stand still', async () => {
      const { body } = await issue();
      await service.infrastructure.engine.stop();
      try {
        expect((await admin.post(`/v1/keys/${body.key_id}/revoke`)).status).toBe(200);
        expect(await works(body.key)).toBe(401);
      } finally {
        await service.infrastructure.engine.start();
      }
      expect(await works(body.key)).toBe(401);
      expect((await admin.post(`/v1/keys/${body.key_id}/revoke`)).status).toBe(200);
    });

    it('stop working when they expire', async () => {
      const now = service.clock.now();
      const { body } = await issue({ expires_at: new Date(now.getTime() + 60_000).toISOString() });
      expect(await works(body.key)).toBe(200);
      service.clock.set(new Date(now.getTime() + 60_000));
      expect(await works(body.key)).toBe(401);
      service.clock.set(now);
      expect((await issue({ expires_at: now.toISOString() })).body).toMatchObject({ code: 'expiry_not_in_future' });
    });

    it('carry the scopes of a team only, and of operators only', async () => {
      expect((await issue({ scopes: ['projections:manage'] })).body).toMatchObject({
        code: 'scope_not_allowed',
        field: 'scopes',
      });
      expect((await admin.post('/v1/keys', { scopes: ['memory:write'] })).body).toMatchObject({ code: 'profile_required' });
      expect((await service.operator.post('/v1/keys', { scopes: ['memory:read'] })).body).toMatchObject({
        code: 'scope_not_allowed',
      });
      expect((await issue({ scopes: [] })).status).toBe(422);
      expect((await issue({ scopes: ['root'] })).body).toMatchObject({ code: 'validation_failed', field: 'scopes' });
      expect((await issue({ profile_id: other.profile })).body).toMatchObject({ code: 'profile_unknown', field: 'profile_id' });
    });

    it('of operators administer teams, and see no memory', async () => {
      const { body } = await service.operator.post<Issued>('/v1/keys', {
        scopes: ['admin', 'projections:manage'],
        name: 'second',
      });
      const operator = withKey(body.key);
      expect((await operator.get('/v1/teams')).status).toBe(200);
      expect((await operator.get('/v1/projections')).status).toBe(200);
      expect(await operator.get('/v1/procedures')).toMatchObject({ status: 403, body: { code: 'team_required' } });
      for (const answer of [
        await operator.post('/v1/procedures/recall', { question: 'x' }),
        await operator.post(`/v1/procedures/${randomUUID()}/approve`),
        await operator.delete(`/v1/procedures/${randomUUID()}`),
      ]) {
        expect(answer).toMatchObject({ status: 403, body: { code: 'team_required' } });
      }
      const listed = await operator.get<Page<object>>('/v1/keys');
      expect(listed.body.items).toContainEqual(expect.objectContaining({ key_id: body.key_id, team_id: null, name: 'second' }));
      expect((await operator.post(`/v1/keys/${body.key_id}/revoke`)).status).toBe(200);
      expect((await operator.get('/v1/teams')).status).toBe(401);
    });
  });

  describe('a caller', () => {
    it('without a good key gets one and the same answer', async () => {
      const revoked = (await issue()).body;
      await admin.post(`/v1/keys/${revoked.key_id}/revoke`);
      const keys = [undefined, '', 'x', `mneme_${'A'.repeat(43)}`, revoked.key ?? '', `mneme-local_${'A'.repeat(43)}`];
      for (const key of keys) {
        const answer = await new Client(service.url, key).get<Problem>('/v1/procedures');
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="mneme"');
        expect({ ...answer.body, correlation_id: '' }).toEqual({
          type: 'urn:mneme:problem:unauthenticated',
          title: 'Unauthenticated',
          status: 401,
          code: 'unauthenticated',
          detail: 'Send a valid API key as Authorization: Bearer <key>.',
          correlation_id: '',
        });
      }
    });

    it.each(['Basic bW5lbWU6eA==', 'Bearer', 'Bearer a b', 'mneme_x'])(
      'with the header %j is unauthenticated',
      async (authorization) => {
        expect((await service.anonymous.get('/v1/procedures', { headers: { authorization } })).status).toBe(401);
      },
    );

    it('with a key of the wrong scope is told which it needs', async () => {
      const reader = await team.clientWith(['memory:read']);
      const answer = await reader.get<Problem & { required_scopes: string[] }>('/v1/keys');
      expect([answer.status, answer.body.code, answer.body.required_scopes]).toEqual([403, 'forbidden', ['admin']]);
      expect(await reader.get('/v1/projections')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      expect(await admin.get('/v1/procedures')).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    });
  });

  describe('a command repeated under its idempotency key', () => {
    it('gives the receipt of the first', async () => {
      const key = randomUUID();
      const create = () => service.operator.post('/v1/teams', { name: 'Once' }, idempotent(key));
      const [first, again] = [await create(), await create()];
      expect(again.status).toBe(201);
      expect([again.body, again.position]).toEqual([first.body, first.position]);
    });

    it('runs once when it is sent ten times at the same moment', async () => {
      const key = randomUUID();
      const answers = await Promise.all(
        Array.from({ length: 10 }, () => admin.post<{ profile_id: string }>('/v1/profiles', { name: 'Once' }, idempotent(key))),
      );
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.profile_id}`)).size).toBe(1);
      const { body } = await admin.get<Page<{ name: string }>>(`/v1/profiles?limit=200&min_position=${answers[0]?.position}`);
      expect(body.items.filter(({ name }) => name === 'Once')).toHaveLength(1);
    });

    it('is refused when it says something else, or is another command', async () => {
      const key = randomUUID();
      await admin.post('/v1/profiles', { name: 'first' }, idempotent(key));
      const reused = { status: 422, body: { code: 'idempotency_key_reused', field: 'Idempotency-Key' } };
      expect(await admin.post('/v1/profiles', { name: 'second' }, idempotent(key))).toMatchObject(reused);
      expect(await admin.post('/v1/keys', { scopes: ['admin'] }, idempotent(key))).toMatchObject(reused);
      expect(await admin.post(`/v1/profiles/${team.profile}/deactivate`, {}, idempotent(key))).toMatchObject(reused);
    });

    it('is another command of a key of another team', async () => {
      const key = randomUUID();
      const theirAdmin = await other.clientWith(['admin']);
      const mine = await admin.post<{ profile_id: string }>('/v1/profiles', { name: 'x' }, idempotent(key));
      const theirs = await theirAdmin.post<{ profile_id: string }>('/v1/profiles', { name: 'x' }, idempotent(key));
      expect([mine.status, theirs.status]).toEqual([201, 201]);
      expect(mine.body.profile_id).not.toBe(theirs.body.profile_id);
    });

    it('is refused to an operator who names another team', async () => {
      const key = randomUUID();
      const of = (id: string) => service.operator.post('/v1/profiles', { team_id: id, name: 'x' }, idempotent(key));
      expect((await of(team.id)).status).toBe(201);
      expect(await of(other.id)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
    });

    it('issues no second key, and cannot show the first again', async () => {
      const key = randomUUID();
      const first = await issue({}, idempotent(key));
      const again = await issue({}, idempotent(key));
      expect(again.body).toEqual({ key_id: first.body.key_id, key: null });
      expect(await works(first.body.key)).toBe(200);
    });

    it('gives a key its secret when a crash came between the append and the hash', async () => {
      const key = randomUUID();
      const { key_id } = (await issue({}, idempotent(key))).body;
      await database().as('mneme_system', (queries) =>
        queries.execute('DELETE FROM mneme.api_key_hashes WHERE key_id = $1', [key_id]),
      );
      await database().query('DELETE FROM mneme.commands');
      const healed = await issue({}, idempotent(key));
      expect(healed.body.key_id).toBe(key_id);
      expect(await works(healed.body.key)).toBe(200);
    });

    it('gives a revoked key no secret', async () => {
      const key = randomUUID();
      const { key_id } = (await issue({}, idempotent(key))).body;
      await admin.post(`/v1/keys/${key_id}/revoke`);
      expect((await issue({}, idempotent(key))).body).toEqual({ key_id, key: null });
    });

    it.each(['', 'with space', 'x'.repeat(256)])('needs a proper key: %j', async (key) => {
      const answer = await admin.post<Problem>('/v1/profiles', { name: 'x' }, idempotent(key));
      expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_invalid']);
    });
  });

  describe('whatever is sent', () => {
    const names = [
      'team_id',
      'profile_id',
      'name',
      'scopes',
      'expires_at',
      'settings',
      'review',
      'language',
      'constructor',
      '__proto__',
    ];
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.string({ unit: 'binary' }),
      fc.constantFrom<unknown>(['admin'], '2026-02-30T00:00:00Z', '\u0000', '\ud800', 1e308, '0001-01-01T00:00:00+23:59', {
        review: null,
      }),
    );
    const body = fc.dictionary(fc.oneof(fc.constantFrom(...names), fc.string()), value, { maxKeys: 6 });
    const path = fc.constantFrom(
      '/v1/teams',
      '/v1/profiles',
      '/v1/keys',
      '/v1/profiles/x/deactivate',
      `/v1/profiles/${randomUUID()}/reactivate`,
      `/v1/keys/${randomUUID()}/revoke`,
      '/v1/keys/%00/revoke',
    );

    it('is never a fault of the service', async () => {
      await fc.assert(
        fc.asyncProperty(path, body, fc.option(fc.string({ unit: 'grapheme-ascii' })), async (to, sent, key) => {
          const headers = key === null ? {} : { 'idempotency-key': key, 'if-match': key };
          const answer = await service.operator.post<Problem>(to, sent, { headers });
          expect(answer.status).toBeGreaterThanOrEqual(200);
          expect(answer.status).toBeLessThan(500);
          if (answer.status >= 400) expect(answer.headers.get('content-type')).toContain('application/problem+json');
        }),
        { numRuns: 300 },
      );
    });

    it('is never a fault in a query or a key either', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom('limit', 'cursor', 'team_id', 'min_position', 'x'),
          fc.string({ unit: 'binary' }),
          async (name, text) => {
            const query = `${name}=${encodeURIComponent(text)}`;
            const answers = [
              await service.operator.get(`/v1/keys?${query}`),
              await service.anonymous.get('/v1/keys', {
                headers: { authorization: `Bearer ${encodeURIComponent(text)}` },
              }),
            ];
            for (const { status } of answers) expect(status).toBeLessThan(500);
          },
        ),
        { numRuns: 150 },
      );
    });
  });
});
