import { setTimeout as sleep } from 'node:timers/promises';
import { tampered } from '../support/tampered.js';
import { type Recalled, rememberVersion } from '../support/remember.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

interface Build {
  readonly version: number;
  readonly build: number;
  readonly state: string;
  readonly failed_position: number | null;
}
interface Projection {
  readonly name: string;
  readonly state: string;
  readonly rebuild_error: string | null;
  readonly builds: readonly Build[];
}

describe('replacing read models over HTTP', () => {
  let service: TestService;
  let team: TestTeam;
  let position: string;
  beforeAll(async () => {
    service = await startTestService();
    team = await newTeam(service);
    ({ position } = await rememberVersion(team.client, { question: 'xyzzyquestion' }));
  });
  afterAll(() => service.stop());

  const post = <Body>(action: string, body: object = {}, headers: Record<string, string> = {}) =>
    service.operator.post<Body>(`/v1/projections/${action}`, body, { headers });
  const projection = async (name: string) => {
    const { body } = await service.operator.get<{ items: Projection[] }>('/v1/projections');
    const found = body.items.find((each) => each.name === name);
    if (!found) throw new Error(`there is no ${name}`);
    return found;
  };
  const states = async (name: string) => (await projection(name)).builds.map(({ build, state }) => `${build} ${state}`);
  const until = async (name: string, ...wanted: string[]) => {
    for (let tries = 0; tries < 1000 && (await states(name)).join() !== wanted.join(); tries++) await sleep(10);
    expect(await states(name)).toEqual(wanted);
  };
  const recalled = async () => {
    const { body } = await team.client.post<Recalled>('/v1/procedures/recall', {
      question: 'xyzzyquestion',
      min_position: position,
    });
    return body.matches.map(({ procedure }) => procedure.question);
  };

  it('builds one anew on hold, compares it, lets it serve, and goes back, with recall right all the while', async () => {
    expect(await recalled()).toEqual(['xyzzyquestion']);
    const version = (await projection('procedures')).builds[0]?.version;
    const started = await post('procedures/rebuild', { hold: true });
    expect([started.status, started.body]).toEqual([202, { name: 'procedures', state: 'building', version, build: 2 }]);
    await until('procedures', '1 serving', '2 ready');

    const verified = await post<{ equal: boolean; tables: { table: string; serving: { rows: number } }[] }>('procedures/verify');
    expect([verified.status, verified.body.equal]).toEqual([200, true]);
    expect(verified.body.tables.find(({ table }) => table === 'procedures')?.serving.rows).toBe(1);
    expect(JSON.stringify(verified.body)).not.toContain('xyzzy');

    const [one, two] = [
      { version, build: 1 },
      { version, build: 2 },
    ];
    const switched = await post('procedures/switch');
    expect([switched.status, switched.body]).toEqual([200, { projection: 'procedures', from: one, to: two, kind: 'switch' }]);
    expect(switched.position).not.toBe('');
    expect(await states('procedures')).toEqual(['2 serving', '1 standby']);
    expect(await recalled()).toEqual(['xyzzyquestion']);

    const back = await post('procedures/rollback', {}, { 'if-match': switched.headers.get('etag') ?? '' });
    expect([back.status, back.body]).toEqual([200, { projection: 'procedures', from: two, to: one, kind: 'rollback' }]);
    expect(await recalled()).toEqual(['xyzzyquestion']);
    expect(await post('procedures/drop')).toMatchObject({ status: 200, body: { dropped: [two] } });
    expect(await states('procedures')).toEqual(['1 serving']);
  });

  it('rebuilds in one go, and keeps what served', async () => {
    expect((await post('access/rebuild')).status).toBe(202);
    await until('access', '2 serving', '1 standby');
    expect((await projection('access')).rebuild_error).toBeNull();
  });

  it('gives a repeated command the same receipt, and another request under its key none', async () => {
    await post('moments/rebuild', { hold: true });
    await until('moments', '1 serving', '2 ready');
    const key = { 'idempotency-key': 'switch-of-tuesday' };
    const once = await post('moments/switch', {}, key);
    const again = await post('moments/switch', {}, key);
    expect([again.status, again.body, again.position]).toEqual([200, once.body, once.position]);
    expect(await states('moments')).toEqual(['2 serving', '1 standby']);
    expect(await post('moments/rollback', {}, key)).toMatchObject({ status: 422, body: { code: 'idempotency_key_reused' } });
  });

  it.each([
    ['event_refs/switch', {}, 409, 'no_ready_build'],
    ['event_refs/rollback', {}, 409, 'no_standby_build'],
    ['event_refs/verify', {}, 409, 'nothing_to_verify'],
    ['event_refs/drop', {}, 409, 'nothing_to_drop'],
    ['event_refs/skip', { position: 0 }, 409, 'nothing_stopped_there'],
    ['event_refs/rebuild', { version: 9 }, 422, 'version_not_declared'],
    ['event_refs/drop', { role: 'serving' }, 422, 'validation_failed'],
    ['event_refs/skip', { position: -1 }, 422, 'validation_failed'],
    ['event_refs/skip', { position: 1.5 }, 422, 'validation_failed'],
    ['event_refs/rebuild', { force: true }, 400, 'unknown_field'],
    ['shelves/rebuild', {}, 404, 'not_found'],
    ['shelves/verify', {}, 404, 'not_found'],
    ['shelves/switch', {}, 404, 'not_found'],
    ['shelves/rollback', {}, 404, 'not_found'],
    ['shelves/drop', {}, 404, 'not_found'],
    ['shelves/skip', { position: 1 }, 404, 'not_found'],
  ])('refuses %s %j with %i %s', async (action, body, status, code) =>
    expect(await post(action, body)).toMatchObject({ status, body: { code } }),
  );

  it('refuses a switch when the read model was operated since the client looked', async () =>
    expect(await post('moments/rollback', {}, { 'if-match': '"7"' })).toMatchObject({
      status: 412,
      body: { code: 'version_conflict' },
    }));

  it('is for operators only', async () => {
    for (const action of ['rebuild', 'verify', 'switch', 'rollback', 'drop', 'skip']) {
      const { status, body } = await team.client.post(`/v1/projections/access/${action}`);
      expect([status, body.code]).toEqual([403, 'forbidden']);
    }
  });

  it('skips an event that stopped a read model, which then goes on', async () => {
    const at = await tampered(service.infrastructure, team.id);
    for (let tries = 0; tries < 500 && (await projection('judged_counters')).state !== 'stopped'; tries++) await sleep(10);
    const [stopped] = (await projection('judged_counters')).builds;
    expect(stopped).toMatchObject({ state: 'stopped', failed_position: Number(at) });
    const skipped = await post('judged_counters/skip', { position: Number(at), reason: 'xyzzyreason' });
    expect([skipped.status, skipped.body]).toEqual([200, { projection: 'judged_counters', position: Number(at) }]);
    await until('judged_counters', '1 serving');
    await post('judged_counters/rebuild', { hold: true });
    await until('judged_counters', '1 serving', '2 ready');
    expect((await post<{ equal: boolean }>('judged_counters/verify')).body.equal).toBe(true);
  });
});
