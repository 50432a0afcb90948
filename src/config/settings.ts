import { z } from 'zod';

const defined = (text: string) => text.trim() !== '';
const number = () => z.string().refine(defined, 'must be a number').transform(Number).pipe(z.number());
const integer = (least: number, most: number) =>
  z.string().refine(defined, 'must be a number').transform(Number).pipe(z.number().int().min(least).max(most));
const share = () => z.string().refine(defined, 'must be a number').transform(Number).pipe(z.number().min(0).max(1));
const above0 = () => number().refine((value) => Number.isFinite(value) && value > 0, 'must be finite and above 0');
const httpUrl = () => z.url({ protocol: /^https?$/ });

/** The longest wait for a model but an infinite one: 2^32 - 2 ms, about 49.7 days. */
const longestWait = 4_294_967_294;
const wait = () => integer(1, longestWait);

const perMinute = () => integer(0, 100_000_000);

/** 32 bytes in base64. */
export const masterKeyText = /^[A-Za-z0-9+/]{43}=$/;

/** What goes into a header as it is: at most 512 visible ASCII characters. */
const headerText = /^[\x21-\x7e]{1,512}$/;

/**
 * Every setting, by the name of its environment variable. This table is the whole configuration surface: a `MNEME_*`
 * variable that is not here stops start-up, so that a misspelt setting is never silently ignored.
 */
export const settings = {
  MNEME_HOST: z.string().min(1).default('127.0.0.1').describe('Address to listen on.'),
  MNEME_PORT: integer(0, 65_535).default(7070).describe('Port to listen on; 0 takes a free one.'),
  MNEME_DATA: z.string().min(1).default('mneme-data').describe('Data folder of the embedded database, master key and admin key.'),
  MNEME_CONFIG_FILE: z.string().min(1).optional().describe('File of NAME=value lines; environment variables win over it.'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\//, 'must start with postgres:// or postgresql://')
    .optional()
    .describe('PostgreSQL 15 to 18 with pgvector 0.8 or newer. Without it, an embedded PostgreSQL runs in the data folder.'),
  EVENTSTORE_URL: z
    .string()
    .regex(/^esdb(\+discover)?:\/\//, 'must start with esdb:// or esdb+discover://, for KurrentDB too')
    .optional()
    .describe(
      'EventStoreDB or KurrentDB that holds the event log. Without it, the log is in the same PostgreSQL as the read models.',
    ),
  MNEME_DATABASE_POOL: integer(2, 200)
    .default(10)
    .describe('Connections to the PostgreSQL server; the embedded one has exactly one.'),
  MNEME_MASTER_KEY: z
    .string()
    .regex(masterKeyText, 'must be 32 bytes in base64')
    .optional()
    .describe('Key that wraps all data keys: 32 bytes in base64. Required with DATABASE_URL; else made in the data folder.'),
  MNEME_STREAM_PREFIX: z
    .string()
    .regex(/^[a-z][a-z0-9]{0,30}_$/, 'must be a lower-case word that ends in an underscore')
    .default('mneme_')
    .describe('Prefix of every stream name, so that installations can share one event log.'),
  MNEME_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'silent'])
    .default('info')
    .describe('Least severe log line written.'),
  MNEME_URL: httpUrl().optional().describe('Service that the command line speaks to; else the one the data folder names.'),
  MNEME_API_KEY: z
    .string()
    .regex(headerText, 'must be at most 512 visible ASCII characters')
    .optional()
    .describe('API key of the command line; else the admin key of the data folder.'),
  MNEME_MIN_POSITION_WAIT_MS: integer(0, 60_000)
    .default(5_000)
    .describe('How long a read waits for its min_position, in milliseconds.'),

  MNEME_PROJECTION_LEASE_MS: integer(500, 600_000)
    .default(10_000)
    .describe('How long a service that fell silent keeps the projections, in milliseconds; then another one takes over.'),
  MNEME_IDEMPOTENCY_WAIT_MS: integer(0, 60_000)
    .default(10_000)
    .describe('How long a command waits for an equal one that is being carried out, in milliseconds.'),
  MNEME_RECEIPT_RETENTION_DAYS: integer(0, 3_650)
    .default(7)
    .describe('Days for which the receipt of a command with an Idempotency-Key is kept; 0 keeps it for ever.'),

  MNEME_RATE_LIMIT_READS: perMinute()
    .default(30_000)
    .describe('Reads that one API key may send a minute, and at once; 0 for any number.'),
  MNEME_RATE_LIMIT_WRITES: perMinute()
    .default(12_000)
    .describe('Writes that one API key may send a minute, and at once; 0 for any number. A batch is one.'),
  MNEME_RATE_LIMIT_EXPENSIVE: perMinute()
    .default(6_000)
    .describe('Recalls, traces, rebuilds and the like that one API key may send a minute, and at once; 0 for any number.'),
  MNEME_RATE_LIMIT_ANONYMOUS: perMinute()
    .default(600)
    .describe(
      'Requests without a key, and as many with a bad one, that one address may send a minute, and at once; 0 for any number.',
    ),
  MNEME_MAX_CONNECTIONS: integer(10, 100_000)
    .default(2_000)
    .describe('Open connections; those beyond are closed as soon as they open.'),

  MNEME_EMBEDDING_PROVIDER: z
    .enum(['bundled', 'openai', 'shared_words'])
    .default('bundled')
    .describe(
      'bundled: model inside the package; openai: OpenAI-compatible endpoint; shared_words: word counts, for tests and the demo.',
    ),
  MNEME_EMBEDDING_WORKERS: integer(1, 16).default(1).describe('Worker threads of the bundled model.'),
  MNEME_EMBEDDING_URL: httpUrl().optional().describe('Base URL of the embedding endpoint, for example http://127.0.0.1:8080/v1.'),
  MNEME_EMBEDDING_MODEL: z.string().min(1).optional().describe('Model name sent to the embedding endpoint.'),
  MNEME_EMBEDDING_API_KEY: z.string().min(1).optional().describe('Bearer token of the embedding endpoint.'),
  MNEME_EMBEDDING_DIMENSIONS: integer(1, 16_000).optional().describe('Dimensions of the endpoint’s vectors.'),
  MNEME_EMBEDDING_TIMEOUT_MS: wait().default(10_000).describe('Longest wait for an embedding, in milliseconds.'),

  MNEME_INTENT_URL: httpUrl()
    .optional()
    .describe('Base URL of a chat endpoint that names the intent of a question; off when unset.'),
  MNEME_INTENT_MODEL: z.string().min(1).optional().describe('Model name sent to the intent endpoint.'),
  MNEME_INTENT_API_KEY: z.string().min(1).optional().describe('Bearer token of the intent endpoint.'),
  MNEME_INTENT_TIMEOUT_MS: wait().default(10_000).describe('Longest wait for an intent, in milliseconds.'),
  MNEME_MIN_INTENT_CONFIDENCE: share().default(0.7).describe('Least confidence at which an extracted intent is used.'),

  MNEME_EVALUATOR_URL: httpUrl().optional().describe('Base URL of a chat endpoint that judges runs; off when unset.'),
  MNEME_EVALUATOR_MODEL: z.string().min(1).optional().describe('Model name sent to the evaluator endpoint.'),
  MNEME_EVALUATOR_API_KEY: z.string().min(1).optional().describe('Bearer token of the evaluator endpoint.'),
  MNEME_EVALUATION_TIMEOUT_MS: z
    .union([z.literal('infinite'), wait()], `must be infinite, or a whole number from 1 to ${longestWait}`)
    .default(30_000)
    .describe('Longest wait for the evaluator, in milliseconds, or infinite.'),

  MNEME_CANDIDATE_POOL: integer(1, 200).default(20).describe('Nearest procedures scored for one recall.'),
  MNEME_RANKING_SIMILARITY_WEIGHT: share().default(0.5).describe('Weight of similarity; the three weights add up to 1.'),
  MNEME_RANKING_SUCCESS_RATE_WEIGHT: share().default(0.3).describe('Weight of the success rate.'),
  MNEME_RANKING_FRESHNESS_WEIGHT: share().default(0.2).describe('Weight of freshness.'),
  MNEME_RANKING_MIN_SIMILARITY: share().default(0.5).describe('Least similarity of a match.'),
  MNEME_RANKING_PRIOR_WEIGHT: above0().default(5).describe('How many runs the prior counts for.'),
  MNEME_RANKING_AGENT_VERDICT_WEIGHT: share().default(0.5).describe('What a run counts for that only its agent judged.'),
  MNEME_RANKING_FRESHNESS_HALF_LIFE_DAYS: above0().default(30).describe('Days after which freshness has halved.'),
} as const;

export type SettingName = keyof typeof settings;
