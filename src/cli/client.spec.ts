import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Client, pathOf } from './client.js';
import { exitCodes } from './failure.js';

/** A real HTTP server that answers as it is told, and remembers what it was asked. */
describe('the client', () => {
  let server: Server;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  let asked: { method: string; url: string; authorization: string | undefined }[];
  const stopping = new AbortController();
  const client = () => new Client(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, 'secret', stopping.signal);

  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push({ method: request.method ?? '', url: request.url ?? '', authorization: request.headers.authorization });
      answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    asked = [];
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const json = (status: number, body: unknown, headers: Record<string, string> = {}) => {
    answer = (_, response) =>
      response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

  it('sends its key and gives back the body and the position of a write', async () => {
    json(201, { team_id: 't-1' }, { 'mneme-position': 'p-1' });
    await expect(client().post('/v1/teams', { name: 'Shop' })).resolves.toEqual({ body: { team_id: 't-1' }, position: 'p-1' });
    expect(asked).toEqual([{ method: 'POST', url: '/v1/teams', authorization: 'Bearer secret' }]);
  });

  it('reads a list to its last page', async () => {
    answer = (request, response) => {
      const page = request.url?.includes('cursor=two')
        ? { items: [3], next_cursor: null }
        : { items: [1, 2], next_cursor: 'two' };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page));
    };
    await expect(client().list<number>('/v1/teams', { team_id: undefined })).resolves.toEqual([1, 2, 3]);
    expect(asked.map(({ url }) => url)).toEqual(['/v1/teams?limit=200', '/v1/teams?limit=200&cursor=two']);
  });

  it.each([
    [422, exitCodes.failed],
    [503, exitCodes.unreachable],
    [202, exitCodes.failed],
  ])('turns a problem with status %d into a failure with its code and field', async (status, exitCode) => {
    const problem = { code: 'a_code', title: 'A code', detail: 'Do this.', field: 'name', correlation_id: 'c-1' };
    json(status, problem, { 'content-type': 'application/problem+json; charset=utf-8' });
    await expect(client().get('/v1/teams')).rejects.toMatchObject({
      exitCode,
      code: 'a_code',
      message: 'Do this.',
      facts: { field: 'name', status, correlationId: 'c-1' },
    });
  });

  it.each([
    [{ code: 'unauthenticated', detail: 'Send a header.' }, /set MNEME_API_KEY/],
    [{ code: 'validation_failed', fields: [{ field: 'team_id', rule: 'required', message: 'is missing' }] }, /--team/],
    [
      { code: 'validation_failed', detail: 'Wrong.', fields: [{ field: 'team_id', rule: 'uuid', message: 'is none' }] },
      /^Wrong\.$/,
    ],
  ])('says what to do on the command line about %j', async (problem, message) => {
    json(401, problem, { 'content-type': 'application/problem+json' });
    await expect(client().get('/v1/profiles')).rejects.toMatchObject({ message: expect.stringMatching(message) as string });
  });

  it('takes what is not JSON for the answer of somebody else', async () => {
    answer = (_, response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    await expect(client().get('/v1/teams')).rejects.toMatchObject({ code: 'unexpected_answer', facts: { status: 502 } });
  });

  it('follows no redirect, which would carry the key elsewhere', async () => {
    answer = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end();
    await expect(client().get('/v1/teams')).rejects.toMatchObject({ exitCode: exitCodes.unreachable });
    expect(asked).toHaveLength(1);
  });

  it('says that nobody answers, and why', async () => {
    // A port that was free a moment ago.
    const gone = createServer();
    await new Promise<void>((resolve) => gone.listen(0, '127.0.0.1', resolve));
    const { port } = gone.address() as AddressInfo;
    await new Promise((resolve) => gone.close(resolve));
    await expect(new Client(`http://127.0.0.1:${port}`, 'secret', stopping.signal).get('/v1/teams')).rejects.toMatchObject({
      exitCode: exitCodes.unreachable,
      code: 'service_unreachable',
      message: `no service can be reached at http://127.0.0.1:${port} (ECONNREFUSED)`,
    });
  });

  it('does not tell a key that no header can hold', async () => {
    const failure = await new Client(client().url, 'mneme_geheim\u{20ac}\n', stopping.signal).get('/v1/teams').catch(String);
    expect(failure).toMatch(/the request cannot be sent/);
    expect(failure).not.toMatch(/geheim/);
  });

  it('stops waiting when it is interrupted', async () => {
    const interrupting = new AbortController();
    answer = () => interrupting.abort();
    const waiting = new Client(client().url, 'secret', interrupting.signal).get('/v1/teams');
    await expect(waiting).rejects.toMatchObject({ exitCode: exitCodes.interrupted });
  });

  it('lets no id leave its place in a path', () => {
    expect(pathOf('v1', 'keys', '../teams?x=1', 'revoke')).toBe('/v1/keys/..%2Fteams%3Fx%3D1/revoke');
  });
});
