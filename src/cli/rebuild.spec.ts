import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { exitCodes } from './failure.js';
import { run } from './program.js';
import type { Build, Projection } from './projections.answers.js';

const build = (number: number, role: Build['role'], more: Partial<Build> = {}): Build => ({
  version: 1,
  build: number,
  role,
  state: role,
  projected: true,
  position: 99,
  lag: { positions: 0, seconds: 0 },
  rate: 0,
  eta_seconds: 0,
  last_error: null,
  failed_position: null,
  purged: true,
  ...more,
});

/** The read model as build 1 serves it, or build 2 once the rebuild is done. */
const serving = (number: number, more: Partial<Projection> = {}): Projection => ({
  name: 'procedures',
  version: 1,
  state: 'caught_up',
  position: 99,
  head: 99,
  lag: { positions: 0, seconds: 0 },
  rate: 0,
  eta_seconds: 0,
  last_error: null,
  build: number,
  rebuild: null,
  rebuild_error: null,
  builds: [build(number, 'serving')],
  ...more,
});
const rebuilding = (position: number) =>
  serving(1, {
    builds: [
      build(1, 'serving'),
      build(2, 'ready', { state: 'building', position, rate: 50, eta_seconds: (99 - position) / 50 }),
    ],
  });
const ready = (more: Partial<Projection> = {}) => serving(1, { builds: [build(1, 'serving'), build(2, 'ready')], ...more });

/** `mneme projections rebuild` against a real HTTP server that tells, look by look, how far the rebuild is. */
describe('rebuilding a projection from the command line', () => {
  let server: Server;
  let looks: Projection[];
  let started: { status: number; body: object };
  let asked: unknown;

  beforeAll(async () => {
    server = createServer((request, response) => {
      const { method } = request;
      request.on('data', (sent: Buffer) => void (asked = JSON.parse(sent.toString()) as unknown));
      const { status, body } =
        method === 'POST' ? started : { status: 200, body: { items: [looks.length > 1 ? looks.shift() : looks[0]] } };
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    started = { status: 202, body: { name: 'procedures', state: 'building', version: 1, build: 2 } };
    asked = undefined;
    looks = [serving(1)];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function rebuild({ name = 'procedures', json = false, terminal = false, options = [] as string[] } = {}) {
    const written = { stdout: '', stderr: '' };
    const stderr = Object.assign(new PassThrough(), { isTTY: terminal, columns: 120 });
    stderr.on('data', (text: Buffer) => (written.stderr += text.toString()));
    const code = await run(['projections', 'rebuild', name, ...options, ...(json ? ['--json'] : [])], {
      environment: { MNEME_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, MNEME_API_KEY: 'key' },
      stdout: { write: (text: string) => (written.stdout += text) },
      stderr,
      signal: new AbortController().signal,
    });
    return { code, ...written };
  }

  it('waits until a new build serves, although the old one serves all the while', async () => {
    looks = [serving(1), serving(1), rebuilding(-1), rebuilding(50), ready(), serving(2)];
    const { code, stdout, stderr } = await rebuild({ json: true });
    expect({ code, stderr }).toEqual({ code: exitCodes.done, stderr: '' });
    expect(JSON.parse(stdout)).toEqual(serving(2));
    expect(looks).toHaveLength(1);
  });

  it('fails with the reason when the rebuild failed, although the old build still serves', async () => {
    looks = [serving(1), rebuilding(50), serving(1, { rebuild_error: 'ProcedureErased at 51: projection_defect' })];
    expect(await rebuild()).toEqual({
      code: exitCodes.failed,
      stdout: '',
      stderr: 'mneme: rebuild_failed (procedures): ProcedureErased at 51: projection_defect\n',
    });
  });

  it('fails when the new build stopped at an event', async () => {
    const stopped = build(2, 'ready', { state: 'stopped', position: 50, failed_position: 51, last_error: 'TypeError, at 51' });
    looks = [serving(1), rebuilding(50), serving(1, { builds: [build(1, 'serving'), stopped] })];
    expect((await rebuild()).stderr).toBe('mneme: rebuild_failed (procedures): TypeError, at 51\n');
  });

  it('says what to do when the new build holds other rows', async () => {
    looks = [serving(1), rebuilding(50), ready({ rebuild_error: 'rebuild_differs' })];
    const { code, stderr } = await rebuild();
    expect([code, stderr]).toEqual([
      exitCodes.failed,
      expect.stringContaining('mneme projections verify, then switch or drop it'),
    ]);
  });

  it('ends as soon as the build is ready when it is held', async () => {
    looks = [serving(1), rebuilding(50), ready()];
    const { code, stdout } = await rebuild({ options: ['--hold', '--of-version', '1'] });
    expect([code, stdout]).toEqual([
      exitCodes.done,
      'procedures, version 1 build 2, is ready; mneme projections verify and switch are next\n',
    ]);
    expect(asked).toEqual({ hold: true, version: 1 });
  });

  it('refuses a version that is no number', async () =>
    expect((await rebuild({ options: ['--of-version', 'two'] })).code).toBe(exitCodes.usage));

  it('names the projections there are when it is asked for another', async () =>
    expect(await rebuild({ name: 'shelf' })).toEqual({
      code: exitCodes.failed,
      stdout: '',
      stderr: 'mneme: not_found (shelf): there is no projection of that name; there are procedures\n',
    }));

  it('fails when one is under way already', async () => {
    started = { status: 409, body: { code: 'rebuild_running', title: 'Rebuild running' } };
    const { code, stderr } = await rebuild();
    expect({ code, stderr }).toEqual({ code: exitCodes.failed, stderr: 'mneme: rebuild_running: Rebuild running\n' });
  });

  it('draws progress with rate and time left on a terminal, and nothing elsewhere', async () => {
    looks = [serving(1), rebuilding(49), serving(2)];
    const drawn = (await rebuild({ terminal: true })).stderr;
    expect(drawn).toContain('50 % | 50/100 | 50 events/s | 1 s left');
    looks = [serving(1), rebuilding(49), serving(2)];
    expect((await rebuild()).stderr).toBe('');
  });
});
