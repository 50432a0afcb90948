import { answering, babbling, ModelServer, silent } from '../../test/support/model-server.js';
import { startTestService, type TestService } from '../../test/support/service.js';
import { checkService } from './service.check.js';

const never = new AbortController().signal;

describe('a running service', () => {
  let service: TestService;
  let other: ModelServer;
  beforeAll(async () => {
    service = await startTestService();
    other = await ModelServer.start();
  });
  afterAll(async () => {
    await other.stop();
    await service.stop();
  });

  const check = (url: string, apiKey?: string, now = Date.now) => checkService({ url, apiKey, signal: never, now });
  const bad = async (findings: ReturnType<typeof check>) =>
    (await findings).filter(({ severity }) => severity !== 'ok').map(({ check, message }) => `${check}: ${message}`);

  it('is asked how it does, its read models and its vectors', async () => {
    const findings = await check(service.url, service.operator.key);
    expect(await bad(Promise.resolve(findings))).toEqual([]);
    expect(new Set(findings.map(({ check }) => check))).toEqual(new Set(['service', 'clock', 'projections', 'embeddings']));
    expect(findings.map(({ message }) => message)).toContain('it accepts the API key');
  });

  it('does not accept a key, which is not told', async () => {
    const findings = await check(service.url, 'mneme_hunter2');
    expect(await bad(Promise.resolve(findings))).toEqual(['service: it does not accept the API key']);
    expect(JSON.stringify(findings)).not.toContain('hunter2');
  });

  it('has a clock of its own', async () => {
    expect(await bad(check(service.url, undefined, () => Date.now() + 600_000))).toEqual([
      expect.stringMatching(/^clock: the clock of the service is \d+\.\d s behind this one$/),
    ]);
  });

  it('is not there, or is something else', async () => {
    const gone = await ModelServer.start();
    const { url } = gone;
    await gone.stop();
    expect(await bad(check(url))).toEqual([`service: no service answers at ${new URL(url).host} (ECONNREFUSED)`]);
    for (const elsewhere of [babbling('<html>'), answering({ hello: 'world' })]) {
      other.does(elsewhere);
      expect(await bad(check(other.url))).toEqual([
        `service: what answers at ${new URL(other.url).host} is not Mneme (HTTP 200)`,
      ]);
    }
  });

  it('is told as what it says of itself', async () => {
    other.does(
      answering({
        status: 'degraded',
        projections: [
          { name: 'procedures', state: 'stopped', lag_seconds: 0 },
          { name: 'access', state: 'catching_up', lag_seconds: 75 },
        ],
        embeddings: { model: 'failing', reason: 'unreachable', pending: 9, failed: 2, oldest_pending_seconds: 1_200 },
      }),
    );
    expect(await bad(check(other.url))).toEqual([
      'service: it serves, but is degraded',
      'projections: procedures is stopped',
      'projections: access is 75 s behind',
      'embeddings: its model makes no vectors (unreachable)',
      'embeddings: documents that failed and wait for a retry: 2',
    ]);
  });

  it('is not waited for without end', async () => {
    other.does(silent);
    const caller = new AbortController();
    const waiting = checkService({ url: other.url, apiKey: undefined, signal: caller.signal, now: Date.now });
    setTimeout(() => caller.abort(), 50);
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });
});
