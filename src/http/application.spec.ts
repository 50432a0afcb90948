import { Body, Controller, type DynamicModule, Get, Post, Query } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { startTestService, type TestService } from '../../test/support/service.js';
import { Client } from '../../test/support/http.js';
import { AppModule } from '../app.module.js';
import { createApplication } from './application.js';
import { Public, RequireScope } from './authentication.js';
import { JsonLogger } from './json-logger.js';
import { LocalOperator } from './local-operator.js';
import { ReadQuery } from './paging.js';
import { ReadsFrom } from './read-models.js';
import { RequestSignal } from './request-signal.js';
import { CodePoints, JsonObject, Optional } from './validation/fields.js';

class ProbeBody {
  @Optional()
  @CodePoints(0, 20_000_000)
  text?: string;

  @Optional()
  @JsonObject(1_000)
  graph?: Record<string, unknown>;
}

const secret = 'hunter2';
/** What `signal` was told of. */
const aborted: string[] = [];

/** Routes of the tests' own. */
@Public()
@Controller('probe')
class ProbeController {
  @Post('echo')
  echo(@Body() { text = '', graph }: ProbeBody) {
    return { length: text.length, graph };
  }

  @Post('nothing')
  nothing() {
    return {};
  }

  @Get('crash')
  crash() {
    throw new Error(`the user said ${secret}`);
  }

  @Get('wait')
  async wait(@RequestSignal() signal: AbortSignal) {
    await once(signal, 'abort');
    aborted.push('wait');
    signal.throwIfAborted();
  }

  @Get('crash-later')
  async crashLater(@RequestSignal() signal: AbortSignal) {
    await once(signal, 'abort');
    throw new Error(`the user said ${secret}`);
  }

  @Get('quick')
  async quick(@RequestSignal() signal: AbortSignal) {
    signal.addEventListener('abort', () => aborted.push('quick'));
    return Promise.resolve({});
  }

  @Get('behind')
  @ReadsFrom('access')
  behind(@Query() { min_position }: ReadQuery) {
    return { min_position };
  }
}

/** Says neither who may call it, nor that everyone may. */
@Controller('unguarded')
class UnguardedController {
  @Get()
  get() {
    return {};
  }
}

@Controller('guarded')
class GuardedController {
  @RequireScope('memory:read')
  @Get(':id')
  get() {
    return {};
  }
}

describe('the HTTP application', () => {
  let service: TestService;
  let app: NestFastifyApplication;
  let client: Client;
  const lines: string[] = [];

  beforeAll(async () => {
    const logger = new JsonLogger('info', { write: (line: string) => void lines.push(line) });
    service = await startTestService({ logger, settings: { MNEME_MIN_POSITION_WAIT_MS: '1000' } });
    const module: DynamicModule = {
      module: class ProbeModule {},
      imports: [AppModule.on(service.infrastructure)],
      controllers: [ProbeController, UnguardedController, GuardedController],
    };
    app = await createApplication(module);
    await app.listen(0, '127.0.0.1');
    client = new Client(await app.getUrl(), undefined);
  });
  afterAll(async () => {
    await app.close();
    await service.stop();
  });
  beforeEach(() => void lines.splice(0));

  const logged = async (route: string) => {
    for (let wait = 0; wait < 100; wait += 1) {
      const found = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find((line) => line.route === route);
      if (found) return found;
      await sleep(10);
    }
    throw new Error(`no line for ${route}`);
  };
  const send = (method: string, path: string, body: string | Buffer | undefined, headers: Record<string, string> = {}) =>
    fetch(`${client.url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
  const json = { 'content-type': 'application/json' };
  /** Everything that comes back until the other side closes. */
  const overSocket = async (text: string): Promise<string> => {
    const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
    let received = '';
    socket.on('data', (chunk: Buffer) => (received += chunk.toString()));
    socket.write(text);
    await once(socket, 'close');
    return received;
  };

  describe('answers with a problem', () => {
    const problem = async (response: Response) => {
      expect(response.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
      const body = (await response.json()) as Record<string, unknown>;
      expect(body).toMatchObject({
        type: `urn:mneme:problem:${String(body.code)}`,
        title: expect.any(String) as string,
        status: response.status,
        correlation_id: response.headers.get('x-correlation-id'),
      });
      return [response.status, body.code, body.field];
    };

    it.each<[string, string, string, string | Buffer | undefined, Record<string, string>, unknown[]]>([
      ['an unknown route', 'GET', '/nowhere', undefined, {}, [404, 'route_not_found', undefined]],
      ['a method that a route does not have', 'DELETE', '/probe/echo', undefined, {}, [404, 'route_not_found', undefined]],
      ['a body that is no JSON', 'POST', '/probe/echo', '{"text":"hunter2', json, [400, 'malformed_json', undefined]],
      [
        'a body that is no UTF-8',
        'POST',
        '/probe/echo',
        Buffer.from([0x22, 0xff, 0x22]),
        json,
        [400, 'malformed_json', undefined],
      ],
      ['a body that is no object', 'POST', '/probe/echo', '[]', json, [400, 'body_not_an_object', undefined]],
      ['null for a body', 'POST', '/probe/echo', 'null', json, [400, 'body_not_an_object', undefined]],
      [
        'another media type',
        'POST',
        '/probe/echo',
        'text=x',
        { 'content-type': 'text/plain' },
        [415, 'unsupported_media_type', undefined],
      ],
      [
        'a form',
        'POST',
        '/probe/echo',
        'a=b',
        { 'content-type': 'application/x-www-form-urlencoded' },
        [415, 'unsupported_media_type', undefined],
      ],
      [
        'a body that is compressed',
        'POST',
        '/probe/echo',
        gzipSync('{"text":"hunter2"}'),
        { ...json, 'content-encoding': 'gzip' },
        [415, 'unsupported_media_type', undefined],
      ],
      [
        'a body that says it is compressed and is not',
        'POST',
        '/probe/echo',
        '{"text":"hunter2"}',
        { ...json, 'content-encoding': 'br' },
        [415, 'unsupported_media_type', undefined],
      ],
      [
        'a number that would lose digits',
        'POST',
        '/probe/echo',
        '{"graph":{"order":9007199254740993}}',
        json,
        [422, 'number_not_exact', 'graph'],
      ],
      ['an unknown field', 'POST', '/probe/echo', '{"txet":"hunter2"}', json, [400, 'unknown_field', 'txet']],
      [
        'a key that is no plain data',
        'POST',
        '/probe/echo',
        '{"__proto__":{"a":1}}',
        json,
        [422, 'validation_failed', '__proto__'],
      ],
      ['a URL that cannot be read', 'GET', '/probe/%zz', undefined, {}, [400, 'malformed_url', undefined]],
      ['a path part beyond measure', 'GET', `/guarded/${'x'.repeat(300)}`, undefined, {}, [414, 'uri_too_long', undefined]],
      ['a fault of ours', 'GET', '/probe/crash', undefined, {}, [500, 'internal', undefined]],
      ['a route that forgot to say who may call it', 'GET', '/unguarded', undefined, {}, [500, 'internal', undefined]],
      ['no key', 'GET', '/guarded/1', undefined, {}, [401, 'unauthenticated', undefined]],
    ])('to %s', async (_, method, path, body, headers, expected) => {
      const response = await send(method, path, body, headers);
      expect(await problem(response.clone())).toEqual(expected);
      expect(await response.text()).not.toContain(secret);
    });

    it('to more than 1 MB', async () => {
      const body = (bytes: number) => JSON.stringify({ text: 'x'.repeat(bytes - 11) });
      const mebibyte = 1024 * 1024;
      expect((await send('POST', '/probe/echo', body(mebibyte), json)).status).toBe(201);
      expect(await problem(await send('POST', '/probe/echo', body(mebibyte + 1), json))).toEqual([413, 'too_large', undefined]);
    });

    it('to what is no HTTP', async () => {
      const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
      socket.end('hunter2 hunter2\r\n\r\n');
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      const [head = '', body = ''] = chunk.toString().split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 400 .*content-type: application\/problem\+json/is);
      expect(JSON.parse(body)).toMatchObject({ status: 400, code: 'malformed_request' });
      expect(body).not.toContain(secret);
    });

    it('to a request without a host, which HTTP/1.1 asks for', async () => {
      expect(await overSocket('GET /probe/quick HTTP/1.1\r\nconnection: close\r\n\r\n')).toMatch(
        /^HTTP\/1\.1 400 [^]*application\/problem\+json[^]*"code":"malformed_request"/,
      );
      expect(await overSocket('GET /probe/quick HTTP/1.0\r\n\r\n')).toMatch(/^HTTP\/1\.1 200 /);
    });

    it('to headers beyond measure', async () => {
      const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
      socket.write(`GET /probe/quick HTTP/1.1\r\nhost: x\r\nx-long: ${'x'.repeat(20_000)}\r\n\r\n`);
      const [chunk] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      expect(chunk.toString()).toMatch(/^HTTP\/1\.1 431 /);
      expect(chunk.toString()).toContain('"code":"headers_too_large"');
    });
  });

  it('answers a request with an expectation that nobody knows', async () => {
    const asked = 'GET /probe/quick HTTP/1.1\r\nhost: x\r\nexpect: miracles\r\nconnection: close\r\n\r\n';
    expect(await overSocket(asked)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('writes no answer to nonsense into the place of one that is owed', async () => {
    const slow = 'GET /probe/wait HTTP/1.1\r\nhost: x\r\n\r\n';
    expect(await overSocket(`${slow}hunter2 hunter2\r\n\r\n`)).toBe('');
  });

  it('takes a POST without a body, with and without a content type', async () => {
    for (const headers of [{}, json]) expect((await send('POST', '/probe/nothing', undefined, headers)).status).toBe(201);
    expect((await send('POST', '/probe/echo', '', json)).status).toBe(201);
  });

  it('keeps a graph as it came, whatever its keys are called', async () => {
    const graph = { constructor: 'x', toString: 1, hasOwnProperty: { valueOf: null }, ключ: ['😀'] };
    expect((await client.post('/probe/echo', { graph })).body).toEqual({ length: 0, graph });
  });

  it('answers HEAD like GET, without the body', async () => {
    const response = await send('HEAD', '/probe/quick', undefined);
    expect([response.status, await response.text()]).toEqual([200, '']);
  });

  it('keeps answers out of caches, and browsers from guessing their type and from showing or running them', async () => {
    for (const path of ['/probe/quick', '/probe/crash', '/nowhere', '/guarded/1', '/probe/%zz', '/openapi.json']) {
      const { headers } = await send('GET', path, undefined);
      expect([path, Object.fromEntries(headers)]).toEqual([
        path,
        expect.objectContaining({
          'cache-control': 'no-store',
          'x-content-type-options': 'nosniff',
          'x-frame-options': 'DENY',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'same-origin',
          'content-security-policy': "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        }),
      ]);
      expect(headers.get('access-control-allow-origin')).toBeNull();
    }
  });

  it('takes the caller’s correlation id where it is fit for logs, else makes one', async () => {
    const echoed = async (id: string) =>
      (await send('GET', '/probe/quick', undefined, { 'x-correlation-id': id })).headers.get('x-correlation-id');
    expect(await echoed('order-17:retry.2')).toBe('order-17:retry.2');
    for (const unfit of ['has space', '{"a":1}', 'x'.repeat(129), '<b>']) {
      expect(await echoed(unfit)).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  describe('logs', () => {
    it('one line a request, with the route’s template in place of the path', async () => {
      await client.get(`/guarded/${secret}?${secret}=${secret}`, { headers: { 'x-correlation-id': 'c-1' } });
      expect(await logged('/guarded/{id}')).toMatchObject({ level: 'info', method: 'GET', status: 401, correlation_id: 'c-1' });
      await client.get(`/${secret}`);
      expect(await logged('unmatched')).toMatchObject({ status: 404 });
      expect(lines.join('')).not.toContain(secret);
    });

    it('who called', async () => {
      await new Client(client.url, app.get(LocalOperator).key).get('/v1/teams');
      expect(await logged('/v1/teams')).toMatchObject({ status: 200, key: 'local-operator' });
    });

    it('a fault with its place and the correlation id, and without what the error said', async () => {
      await client.get('/probe/crash', { headers: { 'x-correlation-id': 'c-2' } });
      await logged('/probe/crash');
      const fault = lines.map((line) => JSON.parse(line) as Record<string, unknown>).find(({ level }) => level === 'error');
      expect(fault).toMatchObject({ error: 'Error', correlation_id: 'c-2', problem: 'internal' });
      expect(JSON.stringify(fault)).toContain('application.spec');
      expect(lines.join('')).not.toContain(secret);
    });
  });

  describe('the signal of a request', () => {
    it('is aborted when the client goes away, which is logged as 499', async () => {
      const gone = new AbortController();
      const waiting = client.get('/probe/wait', { signal: gone.signal });
      await sleep(50);
      gone.abort();
      await expect(waiting).rejects.toThrow('abort');
      expect(await logged('/probe/wait')).toMatchObject({ status: 499 });
      await sleep(50);
      expect(aborted).toContain('wait');
      expect(lines).toHaveLength(1);
    });

    it('cut off in the middle of its body is no fault, and is logged as 499', async () => {
      const socket = connect(Number(new URL(client.url).port), '127.0.0.1');
      socket.write('POST /probe/echo HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"te');
      await sleep(50);
      socket.destroy();
      expect(await logged('/probe/echo')).toMatchObject({ level: 'info', status: 499 });
      await sleep(50);
      expect(lines).toHaveLength(1);
    });

    it('leaves a fault that comes after the client has gone in the log', async () => {
      const gone = new AbortController();
      const waiting = client.get('/probe/crash-later', { signal: gone.signal });
      await sleep(50);
      gone.abort();
      await expect(waiting).rejects.toThrow('abort');
      expect(await logged('/probe/crash-later')).toMatchObject({ status: 499 });
      await sleep(50);
      expect(lines.map((line) => (JSON.parse(line) as { problem?: string }).problem)).toContain('internal');
      expect(lines.join('')).not.toContain(secret);
    });

    it('is left alone when the client got its answer', async () => {
      await client.get('/probe/quick');
      await sleep(50);
      expect(aborted).not.toContain('quick');
    });
  });

  describe('min_position', () => {
    const write = async () => (await service.operator.post('/v1/teams', { name: 'x' })).position;

    it('waits until the read models have it', async () => {
      expect((await client.get(`/probe/behind?min_position=${await write()}`)).status).toBe(200);
    });

    it('of no log, another log, or beyond the head is a 422', async () => {
      const other = Buffer.from('11111111-1111-4111-8111-111111111111@0').toString('base64url');
      const beyond = Buffer.from(`${service.infrastructure.logIdentity.logId}@999999`).toString('base64url');
      for (const [token, code] of [
        ['x', 'position_invalid'],
        [other, 'position_invalid'],
        [beyond, 'position_beyond_head'],
      ])
        expect(await client.get(`/probe/behind?min_position=${token}`)).toMatchObject({
          status: 422,
          body: { code, field: 'min_position' },
        });
    });

    it('that the read models do not reach in time is a 202 that says the write stands', async () => {
      await service.infrastructure.engine.stop();
      try {
        const position = await write();
        const answer = await client.get(`/probe/behind?min_position=${position}`);
        expect(answer.status).toBe(202);
        expect(answer.headers.get('retry-after')).toBe('1');
        expect(answer.body).toMatchObject({
          code: 'read_model_behind',
          requested: position,
          reached: expect.any(String) as string,
        });
        expect(answer.body.reached).not.toBe(position);
      } finally {
        await service.infrastructure.engine.start();
      }
      for (let wait = 0; wait < 100; wait += 1) {
        if ((await client.get(`/probe/behind?min_position=${await write()}`)).status === 200) return;
      }
      throw new Error('the read models did not catch up');
    });
  });

  describe('health', () => {
    it('is live and ready, and needs no key', async () => {
      expect(await client.get('/health/live')).toMatchObject({ status: 200, body: { status: 'live' } });
      const ready = await client.get('/health/ready');
      expect(ready.status).toBe(200);
      expect(ready.body).toMatchObject({
        status: 'ready',
        projections: expect.arrayContaining([{ name: 'access', state: 'caught_up', lag_seconds: 0 }]) as object,
      });
    });
  });

  describe('projections', () => {
    const operator = () => new Client(client.url, app.get(LocalOperator).key);

    it('are listed with numbers', async () => {
      const { status, body } = await operator().get<{ items: Record<string, unknown>[] }>('/v1/projections');
      expect(status).toBe(200);
      expect(body.items.find(({ name }) => name === 'access')).toMatchObject({
        version: expect.any(Number) as number,
        state: 'caught_up',
        position: expect.any(Number) as number,
        lag: { positions: 0, seconds: 0 },
        last_error: null,
        build: 1,
        rebuild: null,
        rebuild_error: null,
      });
    });

    it('are rebuilt in the background, one rebuild at a time', async () => {
      const answers = await Promise.all([1, 2].map(() => operator().post('/v1/projections/access/rebuild')));
      expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
      for (let wait = 0; wait < 200; wait += 1) {
        if (lines.some((line) => line.includes('projection rebuilt'))) break;
        await sleep(25);
      }
      const { items } = (await operator().get<{ items: { name: string }[] }>('/v1/projections')).body;
      expect(items.find(({ name }) => name === 'access')).toMatchObject({ build: 2, rebuild: null, rebuild_error: null });
      expect((await operator().get('/v1/teams')).status).toBe(200);
    });

    it('that do not exist are not found', async () => {
      expect(await operator().post('/v1/projections/nothing/rebuild')).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
    });
  });

  describe('documentation', () => {
    interface Document {
      paths: Record<
        string,
        Record<
          string,
          {
            operationId: string;
            responses: Record<string, object>;
            security?: object[];
            parameters?: object[];
            'x-required-scopes'?: string[];
          }
        >
      >;
    }
    const operations = async () => {
      const { paths } = (await client.get<Document>('/openapi.json')).body;
      return Object.entries(paths)
        .filter(([path]) => path.startsWith('/v1') || path.startsWith('/health'))
        .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })));
    };

    it('is there for people', async () => {
      const page = await send('GET', '/docs', undefined);
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html']);
      expect(await page.text()).toContain('swagger-ui-init.js');
      const script = await send('GET', '/docs/swagger-ui-init.js', undefined);
      expect(await script.text()).toContain('issue_key');
    });

    it('may run the scripts of its own service, none that stands in the page, and ask nobody else', async () => {
      for (const path of ['/docs', '/docs/', '/docs/swagger-ui-bundle.js', '/docs/swagger-ui-init.js']) {
        const answer = await send('GET', path, undefined);
        const policy = answer.headers.get('content-security-policy') ?? '';
        expect([path, answer.status, policy.split('; ')]).toEqual([
          path,
          200,
          expect.arrayContaining(["default-src 'none'", "script-src 'self'", "connect-src 'self'", "frame-ancestors 'none'"]),
        ]);
        await answer.text();
      }
      const page = await (await send('GET', '/docs', undefined)).text();
      expect([...page.matchAll(/<script\b[^>]*>/g)].map(([tag]) => tag)).toEqual(
        ['swagger-ui-bundle', 'swagger-ui-standalone-preset', 'swagger-ui-init'].map(
          (name) => `<script src="./docs/${name}.js">`,
        ),
      );
      expect(page).not.toMatch(/\son[a-z]+=|https?:\/\/(?!www\.w3\.org)/);
    });

    it('names each operation once, in snake case', async () => {
      const ids = (await operations()).map(({ operationId }) => operationId);
      expect(ids.length).toBeGreaterThan(10);
      expect(new Set(ids).size).toBe(ids.length);
      for (const id of ids) expect(id).toMatch(/^[a-z]+(_[a-z]+)*$/);
    });

    it('says of each operation what a problem looks like, and where a key is needed', async () => {
      for (const { path, responses, security } of await operations()) {
        const needsKey = path.startsWith('/v1');
        for (const status of ['400', '422', '500', '503', ...(needsKey ? ['401', '403'] : [])])
          expect({ path, status, ...responses[status] }).toHaveProperty('content');
        expect(security).toEqual(needsKey ? [{ bearer: [] }] : undefined);
      }
    });

    it('says which scope an operation needs, and that ids are UUIDs', async () => {
      const needingKey = (await operations()).filter(({ path }) => path.startsWith('/v1'));
      for (const { path, parameters, ...operation } of needingKey) {
        expect({ path, scopes: operation['x-required-scopes'] }).toEqual({ path, scopes: expect.any(Array) as string[] });
        if (path.includes('{id}')) {
          expect(parameters).toContainEqual({
            name: 'id',
            in: 'path',
            required: true,
            schema: { type: 'string', format: 'uuid' },
          });
        }
      }
      const settings = needingKey.find(({ operationId }) => operationId === 'change_team_settings');
      expect(settings?.['x-required-scopes']).toEqual(['admin']);
    });

    it('has a schema for every reference', async () => {
      const text = await (await send('GET', '/openapi.json', undefined)).text();
      const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } };
      for (const [, name = ''] of text.matchAll(/#\/components\/schemas\/(\w+)/g))
        expect(components.schemas).toHaveProperty(name);
    });
  });
});
