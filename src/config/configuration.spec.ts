import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ConfigurationError, readConfiguration } from './configuration.js';
import { type SettingName, settings } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

const masterKey = Buffer.alloc(32, 7).toString('base64');

function problemsOf(environment: Environment): string[] {
  try {
    readConfiguration(environment);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.problems;
  }
}

const refusedNames = (environment: Environment) => problemsOf(environment).map((problem) => problem.split(':')[0]);

const noNumbers = [' ', 'ten', 'NaN', '1,5', '0.5.1'];
const integers = (least: number, most: number) => [...noNumbers, `${least - 1}`, `${most + 1}`, `${least}.5`, 'Infinity'];
const shares = [...noNumbers, '-0.001', '1.001', 'Infinity'];
const above0 = [...noNumbers, '0', '-1', 'Infinity', '1e400'];
const urls = ['here', 'ftp://127.0.0.1/', '127.0.0.1:8080', 'http://'];
const waits = integers(1, 4_294_967_294);

const refused: Partial<Record<SettingName, readonly string[]>> = {
  MNEME_PORT: integers(0, 65_535),
  DATABASE_URL: ['mysql://localhost/mneme', 'localhost', ' postgres://localhost/mneme'],
  EVENTSTORE_URL: ['http://localhost:2113', 'localhost', 'esdb:localhost'],
  MNEME_DATABASE_POOL: integers(2, 200),
  MNEME_MASTER_KEY: ['?', Buffer.alloc(31).toString('base64'), Buffer.alloc(33).toString('base64'), 'a'.repeat(43)],
  MNEME_STREAM_PREFIX: ['mneme', 'Mneme_', '_', '1a_', 'a-b_', 'mneme_ ', `${'a'.repeat(32)}_`],
  MNEME_LOG_LEVEL: ['verbose', 'INFO', 'trace'],
  MNEME_URL: urls,
  MNEME_API_KEY: [' ', 'two words', 'key\n', 'schl\u{fc}ssel', '\u{20ac}', 'a'.repeat(513)],
  MNEME_MIN_POSITION_WAIT_MS: integers(0, 60_000),
  MNEME_IDEMPOTENCY_WAIT_MS: integers(0, 60_000),
  MNEME_RECEIPT_RETENTION_DAYS: integers(0, 3_650),
  MNEME_RATE_LIMIT_READS: integers(0, 100_000_000),
  MNEME_RATE_LIMIT_WRITES: integers(0, 100_000_000),
  MNEME_RATE_LIMIT_EXPENSIVE: integers(0, 100_000_000),
  MNEME_RATE_LIMIT_ANONYMOUS: integers(0, 100_000_000),
  MNEME_MAX_CONNECTIONS: integers(10, 100_000),
  MNEME_PROJECTION_LEASE_MS: integers(500, 600_000),
  MNEME_EMBEDDING_PROVIDER: ['none', 'OpenAI'],
  MNEME_EMBEDDING_WORKERS: integers(1, 16),
  MNEME_EMBEDDING_URL: urls,
  MNEME_EMBEDDING_DIMENSIONS: integers(1, 16_000),
  MNEME_EMBEDDING_TIMEOUT_MS: waits,
  MNEME_INTENT_URL: urls,
  MNEME_INTENT_TIMEOUT_MS: waits,
  MNEME_MIN_INTENT_CONFIDENCE: shares,
  MNEME_EVALUATOR_URL: urls,
  MNEME_EVALUATION_TIMEOUT_MS: [...waits, 'infinity', 'never'],
  MNEME_CANDIDATE_POOL: integers(1, 200),
  MNEME_RANKING_SIMILARITY_WEIGHT: shares,
  MNEME_RANKING_SUCCESS_RATE_WEIGHT: shares,
  MNEME_RANKING_FRESHNESS_WEIGHT: shares,
  MNEME_RANKING_MIN_SIMILARITY: shares,
  MNEME_RANKING_PRIOR_WEIGHT: above0,
  MNEME_RANKING_AGENT_VERDICT_WEIGHT: shares,
  MNEME_RANKING_FRESHNESS_HALF_LIFE_DAYS: above0,
};

/** Whether a file of that name can be read, an address listened on, or a key is right, is found out where it is used. */
const anyText: readonly SettingName[] = [
  'MNEME_HOST',
  'MNEME_DATA',
  'MNEME_CONFIG_FILE',
  'MNEME_EMBEDDING_MODEL',
  'MNEME_EMBEDDING_API_KEY',
  'MNEME_INTENT_MODEL',
  'MNEME_INTENT_API_KEY',
  'MNEME_EVALUATOR_MODEL',
  'MNEME_EVALUATOR_API_KEY',
];

describe('every setting', () => {
  it('has bad values below, or takes any text', () =>
    expect([...Object.keys(refused), ...anyText].sort()).toEqual(Object.keys(settings).sort()));

  it.each(Object.entries(refused).flatMap(([name, values]) => values.map((value) => [name, value])))(
    '%s may not be %p, and is the only one blamed',
    (name, value) => expect(refusedNames({ [name]: value })).toEqual([name]),
  );

  it.each(Object.keys(settings))('%s counts as unset when it is empty', (name) =>
    expect(readConfiguration({ [name]: '' })).toEqual(readConfiguration({})),
  );

  it.each([
    ['MNEME_PORT', '0', '65535'],
    ['MNEME_DATABASE_POOL', '2', '200'],
    ['MNEME_MIN_POSITION_WAIT_MS', '0', '60000'],
    ['MNEME_IDEMPOTENCY_WAIT_MS', '0', '60000'],
    ['MNEME_RECEIPT_RETENTION_DAYS', '0', '3650'],
    ['MNEME_RATE_LIMIT_READS', '0', '100000000'],
    ['MNEME_MAX_CONNECTIONS', '10', '100000'],
    ['MNEME_PROJECTION_LEASE_MS', '500', '600000'],
    ['MNEME_EMBEDDING_WORKERS', '1', '16'],
    ['MNEME_EMBEDDING_DIMENSIONS', '1', '16000'],
    ['MNEME_EMBEDDING_TIMEOUT_MS', '1', '4294967294'],
    ['MNEME_INTENT_TIMEOUT_MS', '1', '4294967294'],
    ['MNEME_EVALUATION_TIMEOUT_MS', '1', '4294967294'],
    ['MNEME_MIN_INTENT_CONFIDENCE', '0', '1'],
    ['MNEME_CANDIDATE_POOL', '1', '200'],
    ['MNEME_RANKING_MIN_SIMILARITY', '0', '1'],
    ['MNEME_RANKING_AGENT_VERDICT_WEIGHT', '0', '1'],
    ['MNEME_RANKING_PRIOR_WEIGHT', '0.000001', '1e300'],
    ['MNEME_RANKING_FRESHNESS_HALF_LIFE_DAYS', '0.000001', '1e300'],
  ])('%s may be %s and %s', (name, least, most) =>
    expect([problemsOf({ [name]: least }), problemsOf({ [name]: most })]).toEqual([[], []]),
  );
});

describe('what is not set', () => {
  it('is as documented', () =>
    expect(readConfiguration({})).toEqual({
      http: { host: '127.0.0.1', port: 7070, maxConnections: 2_000 },
      dataFolder: resolve('mneme-data'),
      database: { url: undefined, pool: 10 },
      eventLog: { kind: 'postgres' },
      masterKey: undefined,
      streamPrefix: 'mneme_',
      logLevel: 'info',
      client: { url: undefined, apiKey: undefined },
      minPositionWaitMs: 5_000,
      idempotencyPatienceMs: 10_000,
      receiptRetentionDays: 7,
      rateLimits: { reads: 30_000, writes: 12_000, expensive: 6_000, anonymous: 600 },
      projectionLeaseMs: 10_000,
      embedding: { provider: 'bundled', workers: 1, timeoutMs: 10_000 },
      intent: undefined,
      evaluator: undefined,
      procedures: {
        ranking: {
          similarityWeight: 0.5,
          successRateWeight: 0.3,
          freshnessWeight: 0.2,
          minSimilarity: 0.5,
          priorWeight: 5,
          agentVerdictWeight: 0.5,
          freshnessHalfLifeDays: 30,
        },
        candidatePool: 20,
        minIntentConfidence: 0.7,
        evaluationTimeoutMs: 30_000,
      },
    }));

  it('leaves what is set as it was set', () => {
    const configuration = readConfiguration({
      DATABASE_URL: 'postgresql://db.example/mneme',
      EVENTSTORE_URL: 'esdb+discover://log.example:2113',
      MNEME_MASTER_KEY: masterKey,
      MNEME_EMBEDDING_PROVIDER: 'openai',
      MNEME_EMBEDDING_URL: 'http://127.0.0.1:8080/v1',
      MNEME_EMBEDDING_MODEL: 'small',
      MNEME_EMBEDDING_DIMENSIONS: '384',
      MNEME_INTENT_URL: 'https://models.example/v1',
      MNEME_INTENT_MODEL: 'intents',
      MNEME_INTENT_API_KEY: 'key of intents',
      MNEME_EVALUATOR_URL: 'https://models.example/v1',
      MNEME_EVALUATOR_MODEL: 'judge',
      MNEME_EVALUATION_TIMEOUT_MS: 'infinite',
    });
    expect(configuration).toMatchObject({
      database: { url: 'postgresql://db.example/mneme' },
      eventLog: { kind: 'eventstoredb', url: 'esdb+discover://log.example:2113' },
      masterKey: Buffer.alloc(32, 7),
      embedding: { provider: 'openai', url: 'http://127.0.0.1:8080/v1', model: 'small', apiKey: undefined, dimensions: 384 },
      intent: { url: 'https://models.example/v1', model: 'intents', apiKey: 'key of intents', timeoutMs: 10_000 },
      evaluator: { url: 'https://models.example/v1', model: 'judge', apiKey: undefined },
      procedures: { evaluationTimeoutMs: undefined },
    });
  });
});

describe('settings that belong together', () => {
  const weights = (similarity: number, successRate: number, freshness: number) => ({
    MNEME_RANKING_SIMILARITY_WEIGHT: String(similarity),
    MNEME_RANKING_SUCCESS_RATE_WEIGHT: String(successRate),
    MNEME_RANKING_FRESHNESS_WEIGHT: String(freshness),
  });

  it.each([
    [1, 0, 0],
    [0.1, 0.2, 0.7],
    [0.5, 0.3, 0.2 + 9e-10],
    [0.5, 0.3, 0.2 - 9e-10],
  ])('are weights of %p, %p and %p, which add up to 1', (...three) => expect(problemsOf(weights(...three))).toEqual([]));

  it.each([
    [0.5, 0.3, 0.3],
    [0, 0, 0],
    [1, 1, 1],
    [0.5, 0.3, 0.2 + 2e-9],
    [0.5, 0.3, 0.2 - 2e-9],
  ])('are no weights of %p, %p and %p, which do not', (...three) =>
    expect(problemsOf(weights(...three))).toEqual([expect.stringMatching(/^MNEME_RANKING_\*: .*must add up to 1, not /)]),
  );

  it.each<[string, Environment, string[]]>([
    ['a database server needs a master key', { DATABASE_URL: 'postgres://db/mneme' }, ['MNEME_MASTER_KEY']],
    [
      'an embedding endpoint needs url, model and dimensions',
      { MNEME_EMBEDDING_PROVIDER: 'openai' },
      ['MNEME_EMBEDDING_URL', 'MNEME_EMBEDDING_MODEL', 'MNEME_EMBEDDING_DIMENSIONS'],
    ],
    [
      'an embedding endpoint needs what is missing of them',
      { MNEME_EMBEDDING_PROVIDER: 'openai', MNEME_EMBEDDING_URL: 'http://127.0.0.1/', MNEME_EMBEDDING_MODEL: 'small' },
      ['MNEME_EMBEDDING_DIMENSIONS'],
    ],
    ['an intent endpoint needs a model', { MNEME_INTENT_URL: 'http://127.0.0.1/' }, ['MNEME_INTENT_MODEL']],
    ['an evaluator endpoint needs a model', { MNEME_EVALUATOR_URL: 'http://127.0.0.1/' }, ['MNEME_EVALUATOR_MODEL']],
  ])('%s', (_, environment, names) => expect(refusedNames(environment)).toEqual(names));
});

describe('an unknown setting', () => {
  it('stops the start, so that a misspelt one is not silently ignored', () =>
    expect(problemsOf({ MNEME_PROT: '80' })).toEqual(['MNEME_PROT: there is no such setting']));

  it('is not one that belongs to tests, or to somebody else', () =>
    expect(problemsOf({ MNEME_TEST_ANYTHING: '1', PATH: '/bin', MNEMEX: '1' })).toEqual([]));
});

describe('the configuration file', () => {
  let folder: string;
  const file = (text: string) => {
    const path = join(folder, 'settings');
    writeFileSync(path, text);
    return path;
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'mneme-configuration-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('fills in what the environment leaves out', () => {
    const path = file('# a comment\nMNEME_PORT=1\nMNEME_HOST=0.0.0.0\nMNEME_DATA=\n');
    expect(readConfiguration({ MNEME_CONFIG_FILE: path, MNEME_PORT: '2' }).http).toMatchObject({ host: '0.0.0.0', port: 2 });
  });

  it('is not overruled by an empty variable', () =>
    expect(readConfiguration({ MNEME_CONFIG_FILE: file('MNEME_PORT=1'), MNEME_PORT: '' }).http.port).toBe(1));

  it('is checked like the environment', () =>
    expect(refusedNames({ MNEME_CONFIG_FILE: file('MNEME_PORT=x\nMNEME_PROT=80') })).toEqual(['MNEME_PROT', 'MNEME_PORT']));

  it('may hold nothing but settings: here no other program’s variables are to be expected', () =>
    expect(refusedNames({ MNEME_CONFIG_FILE: file('PORT=80\nMNEME_PORT=1\nDATABASEURL=x\nMNEME_TEST_X=1\n') }).sort()).toEqual([
      'DATABASEURL',
      'PORT',
    ]));

  it.each<[string, string, string]>([
    ['a line without a value', 'MNEME_PORT=1\nMNEME_HOST 0.0.0.0\n', 'has no NAME=value in line 2'],
    ['a line of JSON', '{"MNEME_PORT":1}', 'has no NAME=value in line 1'],
    ['a value of two lines', 'MNEME_HOST="a\nb"', 'has no NAME=value in line 2'],
    ['another file', 'MNEME_CONFIG_FILE=other', 'names another file, which nobody would read'],
  ])('stops the start with %s, and does not quote it', (_, text, problem) =>
    expect(problemsOf({ MNEME_CONFIG_FILE: file(text) })).toEqual([`MNEME_CONFIG_FILE: ${problem}`]),
  );

  it('may be written as a shell reads it', () => {
    const text = '\n# local\n  export MNEME_HOST="0.0.0.0" # all\r\nMNEME_PORT = 2\r\n';
    expect(readConfiguration({ MNEME_CONFIG_FILE: file(text) }).http).toMatchObject({ host: '0.0.0.0', port: 2 });
  });

  it('stops the start when it cannot be read', () =>
    expect(problemsOf({ MNEME_CONFIG_FILE: join(folder, 'missing') })).toEqual(['MNEME_CONFIG_FILE: cannot be read (ENOENT)']));
});

describe('what is wrong', () => {
  it('is all told at once, also where one setting is bad and another is missing', () =>
    expect(
      refusedNames({
        MNEME_PROT: '80',
        MNEME_PORT: '-1',
        MNEME_LOG_LEVEL: 'loud',
        DATABASE_URL: 'postgres://db/mneme',
        MNEME_EMBEDDING_PROVIDER: 'openai',
        MNEME_EMBEDDING_URL: 'nowhere',
        MNEME_EMBEDDING_DIMENSIONS: '3',
        MNEME_INTENT_URL: 'http://127.0.0.1/',
        MNEME_RANKING_FRESHNESS_WEIGHT: '0.9',
      }).sort(),
    ).toEqual(
      [
        'MNEME_PROT',
        'MNEME_PORT',
        'MNEME_LOG_LEVEL',
        'MNEME_MASTER_KEY',
        'MNEME_EMBEDDING_URL',
        'MNEME_EMBEDDING_MODEL',
        'MNEME_INTENT_MODEL',
        'MNEME_RANKING_*',
      ].sort(),
    ));

  it('is told in one message, a line each', () =>
    expect(() => readConfiguration({ MNEME_PORT: '-1', MNEME_PROT: '80' })).toThrow(
      /^The configuration is invalid:\n {2}MNEME_PROT: there is no such setting\n {2}MNEME_PORT: .+$/,
    ));

  it.each<[string, Environment]>([
    ['the password of a database', { DATABASE_URL: 'postgres://mneme:hunter2@db/mneme' }],
    ['the password of what is no database', { DATABASE_URL: 'mysql://mneme:hunter2@db/mneme' }],
    ['the password of an event log', { EVENTSTORE_URL: 'http://admin:hunter2@log:2113' }],
    ['a master key that is too short', { MNEME_MASTER_KEY: 'hunter2=' }],
    ['a master key that is no base64', { MNEME_MASTER_KEY: '?hunter2?' }],
    ['a key under a misspelt name', { MNEME_MASTERKEY: 'hunter2' }],
    ['the password in a service’s address', { MNEME_URL: 'ftp://mneme:hunter2@service/' }],
    ['the password in an endpoint’s address', { MNEME_EMBEDDING_URL: 'ftp://mneme:hunter2@models/' }],
    [
      'keys of endpoints, beside what is wrong',
      {
        MNEME_INTENT_URL: 'http://u:hunter2@models/',
        MNEME_INTENT_API_KEY: 'hunter2',
        MNEME_EVALUATOR_API_KEY: 'hunter2',
        MNEME_PORT: '-1',
      },
    ],
  ])('never quotes %s', (_, environment) => {
    expect(problemsOf(environment).join('\n')).not.toBe('');
    expect(problemsOf(environment).join('\n')).not.toContain('hunter2');
  });
});
