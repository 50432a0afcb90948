import { setTimeout as sleep } from 'node:timers/promises';
import { teamScopes } from '../../src/access/scopes.js';
import { readConfiguration } from '../../src/config/configuration.js';
import { type RunningService, startService } from '../../src/service.js';
import { freshDatabase, testDatabaseUrl } from '../support/database.js';
import { Client } from '../support/http.js';
import { embeddings, later, ModelServer } from '../support/model-server.js';
import { rememberVersion } from '../support/remember.js';

const count = 60;
const isDocument = (text: string) => text.startsWith('question');

describe('two services on one database', () => {
  let server: ModelServer;
  const running: RunningService[] = [];
  beforeAll(async () => (server = await ModelServer.start()));
  afterEach(async () => {
    for (const service of running.splice(0)) await service.stop();
  });
  afterAll(() => server.stop());

  async function started(settings: Record<string, string>): Promise<RunningService> {
    const service = await startService(
      readConfiguration({
        DATABASE_URL: testDatabaseUrl().url,
        MNEME_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
        MNEME_PORT: '0',
        MNEME_LOG_LEVEL: 'silent',
        MNEME_PROJECTION_LEASE_MS: '500',
        ...settings,
      }),
    );
    running.push(service);
    return service;
  }

  const changed = () => ({
    MNEME_EMBEDDING_PROVIDER: 'openai',
    MNEME_EMBEDDING_URL: server.url,
    MNEME_EMBEDDING_MODEL: 'another',
    MNEME_EMBEDDING_DIMENSIONS: '3',
  });

  /** Documents of another model's making, so that all vectors are to be made anew. */
  async function documents(): Promise<void> {
    await (await freshDatabase()).close();
    const service = await started({ MNEME_EMBEDDING_PROVIDER: 'shared_words' });
    const operator = new Client(service.url, service.localOperatorKey);
    const team_id = (await operator.post<{ team_id: string }>('/v1/teams', { name: 'Team' })).body.team_id;
    const { profile_id } = (await operator.post<{ profile_id: string }>('/v1/profiles', { team_id, name: 'Author' })).body;
    const { key } = (await operator.post<{ key: string }>('/v1/keys', { team_id, profile_id, scopes: teamScopes })).body;
    const client = new Client(service.url, key);
    let position = '';
    for (let index = 0; index < count; index += 1)
      ({ position } = await rememberVersion(client, { question: `question ${index}` }));
    await client.get(`/v1/procedures?min_position=${position}`);
    await service.stop();
    running.splice(0);
  }

  const asked = () => server.requests.flatMap(({ body }) => body.input as string[]).filter(isDocument);
  const pending = async (service: RunningService) => (await service.infrastructure.embeddingWorker.status()).pending;

  it('ask the model once for each text, though both run', async () => {
    await documents();
    server.does(
      later(
        20,
        embeddings((text) => [text.length, 1, 1]),
      ),
    );
    const [first, second] = await Promise.all([started(changed()), started(changed())]);
    while ((await pending(first)) > 0 || asked().length === 0) await sleep(20);
    await sleep(1_200);
    expect(asked()).toHaveLength(count);
    expect(await pending(second)).toBe(0);
  }, 120_000);

  it('go on where one of them ends, with no text asked for more than once beyond the batch at hand', async () => {
    await documents();
    server.does(
      later(
        50,
        embeddings((text) => [text.length, 1, 1]),
      ),
    );
    const first = await started(changed());
    const second = await started(changed());
    while (asked().length < 20) await sleep(5);
    await first.stop();
    running.splice(running.indexOf(first), 1);
    const done = asked().length;
    expect(done).toBeLessThan(count);
    while ((await pending(second)) > 0) await sleep(20);
    expect(asked().length).toBeLessThanOrEqual(count + 16);
    expect(new Set(asked()).size).toBe(count);
  }, 120_000);
});
