import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../support/command-line.js';
import { Client } from '../support/http.js';
import { embeddings, ModelServer, silent, type ModelRequest } from '../support/model-server.js';
import { type Recalled, rememberVersion } from '../support/remember.js';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.js';
import { newTeamKey } from '../crash/writes.js';

interface Readiness {
  readonly status: string;
  readonly embeddings: {
    readonly model: string;
    readonly reason: string | null;
    readonly pending: number;
    readonly oldest_pending_seconds: number | null;
  };
}

const questions = ['alpha', 'beta', 'gamma', 'delta'].map((word) => `How do I release ${word}?`);
/** Nothing like the vectors of shared words: recall would fail, or find nonsense, if the two ever met. */
const vectorOf = (text: string) => [text.length, text.charCodeAt(text.length - 2), 1];
const isDocument = (text: string) => text !== 'memory' && text !== 'What is released?';
const inputOf = ({ body }: ModelRequest) => body.input as string[];

describe('a change of the embedding model', () => {
  const folder = temporaryFolder();
  const words = { MNEME_DATA: folder.path, MNEME_EMBEDDING_PROVIDER: 'shared_words', MNEME_RANKING_MIN_SIMILARITY: '0' };
  let server: ModelServer;
  let running: ServiceProcess | undefined;
  beforeAll(async () => (server = await ModelServer.start()));
  afterAll(async () => {
    await running?.kill();
    await server.stop();
    folder.remove();
  });

  it('never mixes vectors of two models, survives a kill in the middle, and makes each new vector once', async () => {
    const key = await newTeamKey(words);
    const other = {
      MNEME_DATA: folder.path,
      MNEME_EMBEDDING_PROVIDER: 'openai',
      MNEME_EMBEDDING_URL: server.url,
      MNEME_EMBEDDING_MODEL: 'another',
      MNEME_EMBEDDING_DIMENSIONS: '3',
      MNEME_RANKING_MIN_SIMILARITY: '0',
    };
    const recall = (min_position?: string) =>
      new Client(running?.url ?? '', key).post<Recalled>('/v1/procedures/recall', {
        question: 'What is released?',
        top: 10,
        ...(min_position === undefined ? {} : { min_position }),
      });
    const readiness = async () => (await new Client(running?.url ?? '', undefined).get<Readiness>('/health/ready')).body;

    running = await startServiceProcess(words);
    let position = '';
    for (const question of questions) ({ position } = await rememberVersion(new Client(running.url, key), { question }));
    expect((await recall(position)).body.matches).toHaveLength(questions.length);
    await running.stop();

    const hangsOnDocuments = embeddings(vectorOf);
    server.does((request, response) => (inputOf(request).some(isDocument) ? silent : hangsOnDocuments)(request, response));
    running = await startServiceProcess({ ...other, MNEME_MIN_POSITION_WAIT_MS: '50' });
    while (!server.requests.some((request) => inputOf(request).some(isDocument))) await sleep(10);
    expect((await recall()).body.matches).toEqual([]);
    expect((await recall(position)).status).toBe(202);
    expect((await readiness()).embeddings).toMatchObject({ model: 'working', pending: questions.length });
    await running.kill();

    server.does(embeddings(vectorOf));
    running = await startServiceProcess(other);
    expect((await recall(position)).body.matches).toHaveLength(questions.length);
    expect(await readiness()).toMatchObject({ status: 'ready', embeddings: { pending: 0, oldest_pending_seconds: null } });
    expect(server.requests.flatMap(inputOf).filter(isDocument).sort()).toEqual([...questions].sort());
    await running.stop();

    // Back to the first model: its vectors are in the cache.
    running = await startServiceProcess(words);
    expect((await recall(position)).body.matches).toHaveLength(questions.length);
  }, 300_000);

  it('shows a model that is down as degraded, and says why', async () => {
    await running?.stop();
    const gone = await ModelServer.start();
    const { url } = gone;
    await gone.stop();
    running = await startServiceProcess({
      MNEME_DATA: folder.path,
      MNEME_EMBEDDING_PROVIDER: 'openai',
      MNEME_EMBEDDING_URL: url,
      MNEME_EMBEDDING_MODEL: 'third',
      MNEME_EMBEDDING_DIMENSIONS: '3',
    });
    const client = new Client(running.url, undefined);
    let body: Readiness;
    do ({ body } = await client.get<Readiness>('/health/ready'));
    while (body.embeddings.model === 'working');
    expect(body).toMatchObject({
      status: 'degraded',
      embeddings: { model: 'failing', reason: 'unreachable', pending: questions.length },
    });
    expect(await (await fetch(`${running.url}/metrics`)).text()).toContain('mneme_embeddings_model_up 0');
  }, 120_000);
});
