import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { exitCodes } from './failure.js';
import { run } from './program.js';
import type { Projection } from './projections.command.js';

/** The read model as build 1 serves it, or build 2 once the rebuild is done. */
const serving = (build: number, more: Partial<Projection> = {}): Projection => ({
  name: 'procedures',
  version: 1,
  state: 'caught_up',
  position: 99,
  head: 99,
  lag: { positions: 0, seconds: 0 },
  rate: 0,
  eta_seconds: 0,
  last_error: null,
  build,
  rebuild: null,
  rebuild_error: null,
  ...more,
});
const rebuilding = (position: number) => serving(1, { rebuild: { position, rate: 50, eta_seconds: (99 - position) / 50 } });

/** `mneme projections rebuild` against a real HTTP server that tells, look by look, how far the rebuild is. */
describe('rebuilding a projection from the command line', () => {
  let server: Server;
  let looks: Projection[];
  let started: { status: number; body: object };

  beforeAll(async () => {
    server = createServer(({ method }, response) => {
      const { status, body } =
        method === 'POST' ? started : { status: 200, body: { items: [looks.length > 1 ? looks.shift() : looks[0]] } };
      const type = status < 400 ? 'application/json' : 'application/problem+json';
      response.writeHead(status, { 'content-type': type }).end(JSON.stringify(body));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    started = { status: 202, body: { name: 'procedures', state: 'building' } };
    looks = [serving(1)];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  async function rebuild({ name = 'procedures', json = false, terminal = false } = {}) {
    const written = { stdout: '', stderr: '' };
    const stderr = Object.assign(new PassThrough(), { isTTY: terminal, columns: 120 });
    stderr.on('data', (text: Buffer) => (written.stderr += text.toString()));
    const code = await run(['projections', 'rebuild', name, ...(json ? ['--json'] : [])], {
      environment: { MNEME_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, MNEME_API_KEY: 'key' },
      stdout: { write: (text: string) => (written.stdout += text) },
      stderr,
      signal: new AbortController().signal,
    });
    return { code, ...written };
  }

  it('waits until a new build serves, although the old one serves all the while', async () => {
    looks = [serving(1), serving(1), rebuilding(-1), rebuilding(50), serving(2)];
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
