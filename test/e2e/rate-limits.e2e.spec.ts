import { type Answer, Client } from '../support/http.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const settings = {
  MNEME_RATE_LIMIT_READS: '12',
  MNEME_RATE_LIMIT_WRITES: '30',
  MNEME_RATE_LIMIT_EXPENSIVE: '4',
  MNEME_RATE_LIMIT_ANONYMOUS: '10',
};

const never = `mneme_${'A'.repeat(43)}`;
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

type Answered = Answer;

/** Sends one after the other until one is refused. @returns how many were not, and the one that was */
async function untilRefused(send: () => Promise<Answered>): Promise<{ allowed: number; refused: Answered }> {
  for (let allowed = 0; allowed < 1_000; allowed += 1) {
    const refused = await send();
    if (refused.status === 429) return { allowed, refused };
  }
  throw new Error('never refused');
}

describe('rate limits', () => {
  let service: TestService;
  let team: TestTeam;

  // Each test has a service of its own: the address is the same for all, and allowances take a minute to refill.
  beforeEach(async () => {
    service = await startTestService({ settings });
    team = await newTeam(service);
  });
  afterEach(() => service.stop());

  it('refuse a key its next read, with everything a client needs to come back in time', async () => {
    const { allowed, refused } = await untilRefused(() => team.client.get('/v1/procedures'));
    expect(allowed).toBeGreaterThanOrEqual(12);
    expect(allowed).toBeLessThan(16);
    expect(refused.body).toMatchObject({
      status: 429,
      code: 'rate_limited',
      limit: 'reads',
      detail: expect.any(String) as string,
    });
    expect(refused.body.correlation_id).toBe(refused.headers.get('x-correlation-id'));
    expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(5);
    expect(refused.headers.get('ratelimit-policy')).toBe('"reads";q=12;w=60');
    expect(refused.headers.get('ratelimit')).toMatch(/^"reads";r=0;t=(5\d|60)$/);
  });

  it('tell every answer what is left', async () => {
    const { headers } = await team.client.get('/v1/procedures');
    expect([headers.get('ratelimit-policy'), headers.get('ratelimit')]).toEqual(['"reads";q=12;w=60', '"reads";r=11;t=5']);
  });

  it('are a key’s own, not its address’s and not its team’s', async () => {
    await untilRefused(() => team.client.get('/v1/procedures'));
    const another = await team.clientWith(['memory:read']);
    expect((await another.get('/v1/procedures')).status).toBe(200);
  });

  it('count reads, writes and expensive calls apart', async () => {
    const recall = () => team.client.post('/v1/procedures/recall', { question: 'q' });
    expect((await untilRefused(recall)).refused.body.limit).toBe('expensive');
    const unknown = '00000000-0000-4000-8000-000000000000';
    expect((await team.client.get(`/v1/procedures/${unknown}/trace`)).body.limit).toBe('expensive');
    expect((await team.client.get('/v1/procedures')).status).toBe(200);
    const archive = () => team.client.post(`/v1/procedures/${unknown}/archive`);
    expect((await untilRefused(archive)).refused.body.limit).toBe('writes');
    expect((await team.client.get('/v1/procedures')).status).toBe(200);
  });

  it('refuse a rebuild like any other expensive call', async () => {
    const rebuild = () => service.operator.post('/v1/projections/nothing/rebuild');
    expect((await untilRefused(rebuild)).refused.body.limit).toBe('expensive');
  });

  it('count an address that shows no key, and leave keys alone', async () => {
    const { allowed, refused } = await untilRefused(() => service.anonymous.get('/v1/procedures'));
    expect([allowed >= 10 && allowed < 13, refused.body.limit]).toEqual([true, 'anonymous']);
    for (const path of ['/health/ready', '/openapi.json', '/nowhere', '/docs'])
      expect([path, (await service.anonymous.get(path)).status]).toEqual([path, 429]);
    expect((await team.client.get('/v1/procedures')).status).toBe(200);
  });

  it('never refuse to say that the process lives', async () => {
    await untilRefused(() => service.anonymous.get('/nowhere'));
    const answers = await Promise.all(times(20).map(() => service.anonymous.get('/health/live')));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
  });

  it('count an address whose keys are bad, look none of its new ones up, and let those in that worked before', async () => {
    const bad = new Client(service.url, never);
    const { allowed, refused } = await untilRefused(() => bad.get('/v1/procedures'));
    expect([allowed >= 10 && allowed < 13, refused.body.limit]).toEqual([true, 'anonymous']);
    expect((await new Client(service.url, 'garbage').get('/v1/procedures')).status).toBe(429);
    expect((await service.operator.get('/v1/teams')).status).toBe(200);
    expect((await service.anonymous.get('/health/ready')).status).toBe(200);
  });

  it('let no key that stopped working pass as one that worked', async () => {
    const { body } = await service.operator.post<{ key_id: string; key: string }>('/v1/keys', {
      team_id: team.id,
      scopes: ['memory:read'],
    });
    const revoked = new Client(service.url, body.key);
    expect((await revoked.get('/v1/procedures')).status).toBe(200);
    await service.operator.post(`/v1/keys/${body.key_id}/revoke`, { team_id: team.id });
    expect((await untilRefused(() => revoked.get('/v1/procedures'))).allowed).toBeLessThan(14);
  });

  it('are counted in the metrics', async () => {
    await untilRefused(() => team.client.get('/v1/procedures'));
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toMatch(/^mneme_rate_limited_total\{limit="reads"\} 1$/m);
  });
});

describe('rate limits of 0', () => {
  it('limit nothing', async () => {
    const none = Object.fromEntries(Object.keys(settings).map((name) => [name, '0']));
    const service = await startTestService({ settings: none });
    try {
      const { client } = await newTeam(service);
      const answers = await Promise.all([
        ...times(100).map(() => client.get('/v1/procedures')),
        ...times(100).map(() => service.anonymous.get('/v1/procedures')),
      ]);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401]));
      expect(answers[0]?.headers.get('ratelimit')).toBeNull();
    } finally {
      await service.stop();
    }
  });
});
