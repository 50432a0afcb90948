import { connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { readConfiguration } from '../../src/config/configuration.js';
import { Database } from '../../src/database/database.js';
import { type RunningService, startService } from '../../src/service.js';
import { freshDatabase, testDatabaseUrl } from '../support/database.js';
import { Client } from '../support/http.js';

/** A way to the database that can be cut. */
class Line {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private port = 0;

  constructor(private readonly target: URL) {}

  async mend(): Promise<void> {
    this.server = createServer((inner) => {
      const outer = connect(Number(this.target.port || 5432), this.target.hostname);
      for (const socket of [inner, outer]) {
        this.sockets.add(socket);
        socket.on('error', () => socket.destroy());
        socket.on('close', () => void [inner, outer].map((end) => end.destroy()));
      }
      inner.pipe(outer).pipe(inner);
    });
    await new Promise<void>((resolve) => this.server?.listen(this.port, '127.0.0.1', resolve));
    const address = this.server.address();
    this.port = typeof address === 'object' && address ? address.port : 0;
  }

  cut(): void {
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
    this.sockets.clear();
  }

  get url(): string {
    const url = new URL(this.target);
    url.hostname = '127.0.0.1';
    url.port = String(this.port);
    return url.href;
  }
}

describe('while the database is away', () => {
  const line = new Line(new URL(testDatabaseUrl().url));
  let database: Database;
  let service: RunningService;
  let client: Client;

  beforeAll(async () => {
    await (await freshDatabase()).close();
    await line.mend();
    database = new Database(line.url, false, 5);
    const configuration = readConfiguration({
      DATABASE_URL: line.url,
      MNEME_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      MNEME_PORT: '0',
      MNEME_LOG_LEVEL: 'silent',
      MNEME_EMBEDDING_PROVIDER: 'shared_words',
    });
    service = await startService(configuration, { database });
    const operator = new Client(service.url, service.localOperatorKey);
    const { key } = (await operator.post<{ key: string }>('/v1/keys', { scopes: ['admin'] })).body;
    client = new Client(service.url, key);
  });
  afterAll(async () => {
    await service.stop();
    await database.close();
    line.cut();
  });

  it('requests are told to come back, readiness says what is missing, liveness stands, and all is well afterwards', async () => {
    expect(await client.get('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
    line.cut();
    const refused = await client.get('/v1/teams');
    expect(refused).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(refused.headers.get('retry-after')).toBe('1');
    const created = await client.post('/v1/teams', { name: 'x' });
    expect(created).toMatchObject({ status: 503, body: { code: 'database_unavailable' } });
    expect(await client.get('/health/ready')).toMatchObject({
      status: 503,
      body: { code: 'not_ready', log: 'unreachable', database: 'unreachable' },
    });
    expect(await client.get('/health/live')).toMatchObject({ status: 200 });

    await line.mend();
    const written = await client.post('/v1/teams', { name: 'x' });
    expect(written.status).toBe(201);
    for (let wait = 0; wait < 100; wait += 1) {
      const { status, body } = await client.get<{ items: object[] }>(`/v1/teams?min_position=${written.position}`);
      if (status === 200) {
        expect(body.items).toHaveLength(1);
        expect(await client.get('/health/ready')).toMatchObject({ status: 200, body: { status: 'ready' } });
        return;
      }
      await sleep(50);
    }
    throw new Error('the read models did not recover');
  });
});
