import {
  answering,
  babbling,
  chat,
  embeddings,
  failing,
  ModelServer,
  silent,
  type Responder,
} from '../../test/support/model-server.js';
import { readConfiguration } from '../config/configuration.js';
import { checkEmbedder, checkJudges } from './model.checks.js';

const never = new AbortController().signal;

describe('the models', () => {
  let server: ModelServer;
  beforeAll(async () => (server = await ModelServer.start()));
  afterAll(() => server.stop());

  const embedding = () =>
    readConfiguration({
      MNEME_EMBEDDING_PROVIDER: 'openai',
      MNEME_EMBEDDING_URL: server.url,
      MNEME_EMBEDDING_MODEL: 'small',
      MNEME_EMBEDDING_DIMENSIONS: '3',
      MNEME_EMBEDDING_API_KEY: 'sk-hunter2',
      MNEME_EMBEDDING_TIMEOUT_MS: '200',
    });

  it('are asked for one vector, and their dimensions are told', async () => {
    server.does(embeddings(() => [1, 2, 3]));
    const finding = await checkEmbedder(embedding(), never);
    expect(finding).toMatchObject({ check: 'embedder', severity: 'ok' });
    expect(finding.message).toMatch(/^openai:small:3 gave a vector of 3 dimensions in \d+ ms$/);
    expect(server.requests).toHaveLength(1);
  });

  it.each<[string, Responder, string]>([
    ['fails', failing(500), 'server_error: HTTP 500'],
    ['refuses the key', failing(401), 'misconfigured: HTTP 401'],
    ['is overloaded', failing(429), 'rate_limited: HTTP 429'],
    ['is too slow', silent, 'timeout: TimeoutError'],
    ['is no model', babbling('<html>'), 'malformed_answer: malformed answer'],
    ['has other dimensions', embeddings(() => [1, 2]), 'wrong_dimensions: length: 2 instead of 3'],
  ])('are told with advice when the embedder %s', async (_, fault, description) => {
    server.does(fault);
    const finding = await checkEmbedder(embedding(), never);
    expect(finding).toMatchObject({ severity: 'failed', message: `openai:small:3 gives no vector (${description})` });
    expect(finding.advice).toEqual(expect.any(String));
    expect(JSON.stringify(finding)).not.toContain('hunter2');
  });

  it('are told when nobody listens', async () => {
    const gone = await ModelServer.start();
    const { url } = gone;
    await gone.stop();
    const configuration = readConfiguration({
      MNEME_EMBEDDING_PROVIDER: 'openai',
      MNEME_EMBEDDING_URL: url,
      MNEME_EMBEDDING_MODEL: 'small',
      MNEME_EMBEDDING_DIMENSIONS: '3',
      MNEME_INTENT_URL: url,
      MNEME_INTENT_MODEL: 'chat',
    });
    expect(await checkEmbedder(configuration, never)).toMatchObject({
      severity: 'failed',
      message: 'openai:small:3 gives no vector (unreachable: ECONNREFUSED)',
      advice: 'start the endpoint, or correct MNEME_EMBEDDING_URL',
    });
    expect(await checkJudges(configuration, never)).toMatchObject([
      { check: 'intent model', severity: 'failed', message: 'it gives no usable answer (ECONNREFUSED)' },
    ]);
  });

  describe('that judge', () => {
    const configuration = () =>
      readConfiguration({
        MNEME_INTENT_URL: server.url,
        MNEME_INTENT_MODEL: 'chat',
        MNEME_INTENT_TIMEOUT_MS: '200',
        MNEME_EVALUATOR_URL: server.url,
        MNEME_EVALUATOR_MODEL: 'chat',
        MNEME_EVALUATION_TIMEOUT_MS: '200',
      });
    const checked = async () => (await checkJudges(configuration(), never)).map(({ check, severity }) => `${check} ${severity}`);

    it('are not asked when none is configured', async () => expect(await checkJudges(readConfiguration({}), never)).toEqual([]));

    it('are well when they answer as they are asked to', async () => {
      server.does(chat(JSON.stringify({ intent: 'check', confidence: 1, success: true })));
      expect(await checked()).toEqual(['intent model ok', 'evaluator ok']);
    });

    it.each<[string, Responder]>([
      ['refuse the key', failing(401)],
      ['fail', failing(503)],
      ['talk', chat('hello')],
      ['answer nothing', answering({})],
      ['are too slow', silent],
    ])('are told when they %s', async (_, fault) => {
      server.does(fault);
      expect(await checked()).toEqual(['intent model failed', 'evaluator failed']);
    });
  });
});
