import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { type RankingOptions, rankingOptionsProblems } from '../ranking/ranking-options.js';
import { type SettingName, settings } from './settings.js';

/** The validated configuration of one process. It is an injection token too: `constructor(configuration: Configuration)`. */
export class Configuration {
  declare readonly http: { host: string; port: number; maxConnections: number };
  declare readonly dataFolder: string;
  declare readonly database: { url: string | undefined; pool: number };
  declare readonly eventLog: EventLogSettings;
  declare readonly masterKey: Buffer | undefined;
  declare readonly streamPrefix: string;
  declare readonly logLevel: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'silent';
  declare readonly client: { url: string | undefined; apiKey: string | undefined };
  declare readonly minPositionWaitMs: number;
  declare readonly idempotencyPatienceMs: number;
  declare readonly receiptRetentionDays: number;
  declare readonly rateLimits: RateLimitSettings;
  declare readonly projectionLeaseMs: number;
  declare readonly embedding: EmbeddingSettings;
  declare readonly intent: (ChatEndpoint & { timeoutMs: number }) | undefined;
  declare readonly evaluator: ChatEndpoint | undefined;
  declare readonly procedures: ProcedureSettings;

  constructor(values: { readonly [Name in keyof Configuration]: Configuration[Name] }) {
    Object.assign(this, values);
  }
}

/** Requests a minute; 0 for any number. */
export interface RateLimitSettings {
  reads: number;
  writes: number;
  expensive: number;
  anonymous: number;
}

export type EventLogSettings = { kind: 'postgres' } | { kind: 'eventstoredb'; url: string };

export type EmbeddingSettings =
  | { provider: 'bundled'; workers: number; timeoutMs: number }
  | { provider: 'shared_words'; timeoutMs: number }
  | { provider: 'openai'; url: string; model: string; apiKey: string | undefined; dimensions: number; timeoutMs: number };

export interface ChatEndpoint {
  url: string;
  model: string;
  apiKey: string | undefined;
}

export interface ProcedureSettings {
  ranking: RankingOptions;
  /** Nearest procedures scored for one recall, 1 to 200. */
  candidatePool: number;
  /** Least confidence, 0 to 1, at which an extracted intent is used. */
  minIntentConfidence: number;
  /** Milliseconds, or undefined to wait for ever. */
  evaluationTimeoutMs: number | undefined;
}

/** Thrown at start-up; the message lists every problem, a line each, and never a secret's value. */
export class ConfigurationError extends Error {
  readonly code = 'configuration_invalid';

  constructor(readonly problems: string[]) {
    super(`The configuration is invalid:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
  }
}

/**
 * Reads and validates all settings at once.
 *
 * @param environment variables by name; a file named by `MNEME_CONFIG_FILE` fills in what they leave out
 * @throws ConfigurationError naming every bad, missing and unknown setting
 */
export function readConfiguration(environment: Readonly<Record<string, string | undefined>>): Configuration {
  const file = fileVariables(environment.MNEME_CONFIG_FILE);
  const variables = { ...file, ...definedVariables(environment) };
  const isOurs = (name: string) => name.startsWith('MNEME_') || Object.hasOwn(file, name);
  const unknown = Object.keys(variables)
    .filter((name) => isOurs(name) && !name.startsWith('MNEME_TEST_') && !Object.hasOwn(settings, name))
    .map((name) => ({ name, problem: 'there is no such setting' }));
  const { values, bad } = valuesOf(variables);
  // Whether a bad setting goes with the others is not known before it is mended.
  const problems = [...unknown, ...bad, ...contradictions(values, new Set(bad.map(({ name }) => name)))];
  if (problems.length > 0) throw new ConfigurationError(problems.map(({ name, problem }) => `${name}: ${problem}`));
  return configurationOf(values);
}

interface Problem {
  readonly name: string;
  readonly problem: string;
}

type Settings = z.infer<z.ZodObject<typeof settings>>;

/** All values, those of bad settings replaced by their defaults, and what is bad. */
function valuesOf(variables: Readonly<Record<string, string>>): { values: Settings; bad: Problem[] } {
  const all = z.object(settings);
  const parsed = all.safeParse(variables);
  if (parsed.success) return { values: parsed.data, bad: [] };
  const bad = parsed.error.issues.map(({ path, message }) => ({ name: path.join('.'), problem: message }));
  const names = new Set(bad.map(({ name }) => name));
  const good = Object.entries(variables).filter(([name]) => !names.has(name));
  return { values: all.parse(Object.fromEntries(good)), bad };
}

function definedVariables(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== ''),
  );
}

/** @throws ConfigurationError for a file that cannot be read, or has a line that `parseEnv` would pass over in silence */
function fileVariables(file: string | undefined): Record<string, string> {
  if (!file) return {};
  const text = textOf(file);
  const bad = text.split(/\r?\n/).flatMap((line, index) => (settingLine.test(line) ? [] : [index + 1]));
  if (bad.length > 0) throw fileProblem(`has no NAME=value in line ${bad.join(', ')}`);
  const variables = definedVariables(parseEnv(text));
  if (variables.MNEME_CONFIG_FILE !== undefined) throw fileProblem('names another file, which nobody would read');
  return variables;
}

/** A setting, a comment, or nothing. No setting needs several lines. */
const settingLine = /^\s*(?:(?:export\s+)?[A-Za-z_]\w*\s*=.*|#.*)?$/;

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw fileProblem(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`);
  }
}

const fileProblem = (problem: string) => new ConfigurationError([`MNEME_CONFIG_FILE: ${problem}`]);

/** @param bad settings whose values are not known: they contradict none */
function contradictions(values: Settings, bad: ReadonlySet<string>): Problem[] {
  const problems: Problem[] = [];
  const demand = (name: SettingName, because: string) => {
    if (values[name] === undefined && !bad.has(name)) problems.push({ name, problem: `required with ${because}` });
  };
  if (![...bad].some((name) => name.startsWith('MNEME_RANKING_')))
    problems.push(...rankingOptionsProblems(rankingOf(values)).map((problem) => ({ name: 'MNEME_RANKING_*', problem })));
  if (values.DATABASE_URL) demand('MNEME_MASTER_KEY', 'DATABASE_URL; make one with: openssl rand -base64 32');
  if (values.MNEME_EMBEDDING_PROVIDER === 'openai') {
    for (const name of ['MNEME_EMBEDDING_URL', 'MNEME_EMBEDDING_MODEL', 'MNEME_EMBEDDING_DIMENSIONS'] as const)
      demand(name, 'MNEME_EMBEDDING_PROVIDER=openai');
  }
  if (values.MNEME_INTENT_URL) demand('MNEME_INTENT_MODEL', 'MNEME_INTENT_URL');
  if (values.MNEME_EVALUATOR_URL) demand('MNEME_EVALUATOR_MODEL', 'MNEME_EVALUATOR_URL');
  return problems;
}

function rankingOf(values: Settings): RankingOptions {
  return {
    similarityWeight: values.MNEME_RANKING_SIMILARITY_WEIGHT,
    successRateWeight: values.MNEME_RANKING_SUCCESS_RATE_WEIGHT,
    freshnessWeight: values.MNEME_RANKING_FRESHNESS_WEIGHT,
    minSimilarity: values.MNEME_RANKING_MIN_SIMILARITY,
    priorWeight: values.MNEME_RANKING_PRIOR_WEIGHT,
    agentVerdictWeight: values.MNEME_RANKING_AGENT_VERDICT_WEIGHT,
    freshnessHalfLifeDays: values.MNEME_RANKING_FRESHNESS_HALF_LIFE_DAYS,
  };
}

function embeddingOf(values: Settings): EmbeddingSettings {
  const timeoutMs = values.MNEME_EMBEDDING_TIMEOUT_MS;
  switch (values.MNEME_EMBEDDING_PROVIDER) {
    case 'bundled':
      return { provider: 'bundled', workers: values.MNEME_EMBEDDING_WORKERS, timeoutMs };
    case 'shared_words':
      return { provider: 'shared_words', timeoutMs };
    case 'openai':
      return {
        provider: 'openai',
        url: values.MNEME_EMBEDDING_URL ?? '',
        model: values.MNEME_EMBEDDING_MODEL ?? '',
        apiKey: values.MNEME_EMBEDDING_API_KEY,
        dimensions: values.MNEME_EMBEDDING_DIMENSIONS ?? 0,
        timeoutMs,
      };
    default:
      return values.MNEME_EMBEDDING_PROVIDER satisfies never;
  }
}

const chatEndpoint = (
  url: string | undefined,
  model: string | undefined,
  apiKey: string | undefined,
): ChatEndpoint | undefined => (url && model ? { url, model, apiKey } : undefined);

function configurationOf(values: Settings): Configuration {
  const intent = chatEndpoint(values.MNEME_INTENT_URL, values.MNEME_INTENT_MODEL, values.MNEME_INTENT_API_KEY);
  const timeout = values.MNEME_EVALUATION_TIMEOUT_MS;
  return new Configuration({
    http: { host: values.MNEME_HOST, port: values.MNEME_PORT, maxConnections: values.MNEME_MAX_CONNECTIONS },
    dataFolder: resolve(values.MNEME_DATA),
    database: { url: values.DATABASE_URL, pool: values.MNEME_DATABASE_POOL },
    eventLog: values.EVENTSTORE_URL === undefined ? { kind: 'postgres' } : { kind: 'eventstoredb', url: values.EVENTSTORE_URL },
    masterKey: values.MNEME_MASTER_KEY ? Buffer.from(values.MNEME_MASTER_KEY, 'base64') : undefined,
    streamPrefix: values.MNEME_STREAM_PREFIX,
    logLevel: values.MNEME_LOG_LEVEL,
    client: { url: values.MNEME_URL, apiKey: values.MNEME_API_KEY },
    minPositionWaitMs: values.MNEME_MIN_POSITION_WAIT_MS,
    idempotencyPatienceMs: values.MNEME_IDEMPOTENCY_WAIT_MS,
    receiptRetentionDays: values.MNEME_RECEIPT_RETENTION_DAYS,
    rateLimits: {
      reads: values.MNEME_RATE_LIMIT_READS,
      writes: values.MNEME_RATE_LIMIT_WRITES,
      expensive: values.MNEME_RATE_LIMIT_EXPENSIVE,
      anonymous: values.MNEME_RATE_LIMIT_ANONYMOUS,
    },
    projectionLeaseMs: values.MNEME_PROJECTION_LEASE_MS,
    embedding: embeddingOf(values),
    intent: intent && { ...intent, timeoutMs: values.MNEME_INTENT_TIMEOUT_MS },
    evaluator: chatEndpoint(values.MNEME_EVALUATOR_URL, values.MNEME_EVALUATOR_MODEL, values.MNEME_EVALUATOR_API_KEY),
    procedures: {
      ranking: rankingOf(values),
      candidatePool: values.MNEME_CANDIDATE_POOL,
      minIntentConfidence: values.MNEME_MIN_INTENT_CONFIDENCE,
      evaluationTimeoutMs: timeout === 'infinite' ? undefined : timeout,
    },
  });
}
