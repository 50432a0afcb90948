import { accessProjection } from '../projections/access/access.projection.js';
import { ProjectionEngine } from '../projections/engine/projection-engine.js';
import { eventRefs, memoryIdsOf } from '../projections/event-refs/event-refs.projection.js';
import { judgedCountersProjection } from '../projections/judged-counters/judged-counters.projection.js';
import { proceduresProjection } from '../projections/procedures/procedures.projection.js';
import { eventCatalogue } from './all-events.js';
import { type Clock, SystemClock } from './config/clock.js';
import { type Configuration, type EmbeddingSettings } from './config/configuration.js';
import { Database } from './database/database.js';
import { DataFolder } from './database/embedded/data-folder.js';
import { startEmbeddedPostgres } from './database/embedded/embedded-postgres.js';
import { migrate } from './database/migrate.js';
import { checkRequirements } from './database/requirements.js';
import { BundledEmbedder } from './embedding/bundled.embedder.js';
import { procedureDocuments } from './embedding/embedding-documents.js';
import type { EmbeddingGenerator } from './embedding/embedding-generator.js';
import { EmbeddingWorker } from './embedding/embedding-worker.js';
import { OpenAiEmbedder } from './embedding/openai.embedder.js';
import { SharedWordsEmbedder } from './embedding/shared-words.embedder.js';
import { VectorCache } from './embedding/vector-cache.js';
import { DataKeys } from './encryption/data-keys.js';
import { MasterKey } from './encryption/master-key.js';
import { ErasureConsumer } from './erasure/erasure-consumer.js';
import { KeyDestroyer } from './erasure/key-destroyer.js';
import { Codec } from './event-log/codec.js';
import type { EventLog } from './event-log/event-log.js';
import { EventStoreDbEventLog } from './event-log/eventstoredb/eventstoredb-event-log.js';
import { LogIdentity, openLog } from './event-log/log-identity.js';
import { PostgresEventLog } from './event-log/postgres/postgres-event-log.js';
import { Streams } from './event-log/streams.js';
import { JsonLogger } from './http/json-logger.js';
import type { Evaluator } from './judging/evaluator.js';
import type { IntentExtractor } from './judging/intent-extractor.js';
import { OpenAiEvaluator } from './judging/openai.evaluator.js';
import { OpenAiIntentExtractor } from './judging/openai.intent-extractor.js';
import { MeasuredEventLog } from './metrics/measured-event-log.js';
import { Metrics } from './metrics/metrics.js';
import { MemoryHistory } from './trace/memory-history.js';

/** Everything below the HTTP layer, started and connected. */
export interface Infrastructure {
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly logger: JsonLogger;
  /** Of the embedded default; undefined with DATABASE_URL. */
  readonly folder: DataFolder | undefined;
  readonly database: Database;
  readonly keys: DataKeys;
  readonly keyDestroyer: KeyDestroyer;
  readonly erasureConsumer: ErasureConsumer;
  readonly log: EventLog;
  readonly logIdentity: LogIdentity;
  readonly codec: Codec;
  readonly streams: Streams;
  readonly engine: ProjectionEngine;
  readonly metrics: Metrics;
  readonly histories: MemoryHistory;
  readonly embedder: EmbeddingGenerator;
  readonly embeddingWorker: EmbeddingWorker;
  readonly vectors: VectorCache;
  readonly intents: IntentExtractor | undefined;
  readonly evaluator: Evaluator | undefined;
  /** Ends everything in the reverse order of its start. */
  stop(): Promise<void>;
}

/** Adapters that stand in for the configured ones. */
export type Overrides = Partial<Pick<Infrastructure, 'clock' | 'logger' | 'database' | 'embedder' | 'intents' | 'evaluator'>>;

export const allProjections = [
  accessProjection,
  proceduresProjection,
  judgedCountersProjection,
  eventRefs(eventCatalogue.types, memoryIdsOf),
];

/** What has been started, to be stopped in reverse order, also when a later start fails. */
class Started {
  private readonly stops: (() => Promise<void>)[] = [];

  add(stop: () => Promise<void>): void {
    this.stops.push(stop);
  }

  async stop(): Promise<void> {
    for (let stop = this.stops.pop(); stop; stop = this.stops.pop()) await stop();
  }
}

/**
 * Starts and connects everything below the HTTP layer.
 *
 * @throws DataFolderInUse, DatabaseUnsuitable, DatabaseUnavailable, MasterKeyMismatch, LogMismatch with messages that say what to do
 */
export async function openInfrastructure(configuration: Configuration, overrides: Overrides = {}): Promise<Infrastructure> {
  const started = new Started();
  try {
    return await open(configuration, overrides, started);
  } catch (error) {
    await started.stop();
    throw error;
  }
}

async function open(configuration: Configuration, overrides: Overrides, started: Started): Promise<Infrastructure> {
  const logger = overrides.logger ?? new JsonLogger(configuration.logLevel);
  const clock = overrides.clock ?? new SystemClock();
  const { database, masterKey, folder } = await openDatabase(configuration, overrides.database, started);
  await checkRequirements(database);
  await migrate(database);

  const keys = new DataKeys(database, masterKey);
  await keys.checkMasterKey();
  // What it measures is started further down: a scrape comes only once everything runs.
  const metrics: Metrics = new Metrics({
    log: () => log.head(),
    projections: () => engine.status(),
    embeddings: () => embeddingWorker.status(),
  });
  const log = new MeasuredEventLog(openEventLog(configuration, database, logger, started), metrics);
  const codec = new Codec(eventCatalogue, keys, configuration.streamPrefix);
  const streams = new Streams(log, codec);
  const { logId } = await openLog(streams);

  const embedder = overrides.embedder ?? openEmbedder(configuration.embedding);
  started.add(() => embedder.close());
  const documents = [procedureDocuments];
  const embeddingWorker = new EmbeddingWorker({ database, generator: embedder, keys, documents, logger: logger.records });
  const engine = new ProjectionEngine({
    database,
    log,
    codec,
    logId,
    projections: allProjections,
    logger: logger.records,
    embeddingContract: embedder.contract.id,
    onBatch: () => embeddingWorker.wake(),
  });
  const keyDestroyer = new KeyDestroyer(database, keys);
  const erasureConsumer = new ErasureConsumer({
    database,
    log,
    logId,
    streamPrefix: configuration.streamPrefix,
    keyDestroyer,
    logger: logger.records,
  });
  for (const part of [erasureConsumer, engine, embeddingWorker]) {
    await part.start();
    started.add(() => part.stop());
  }

  return {
    configuration,
    clock,
    logger,
    folder,
    database,
    keys,
    keyDestroyer,
    erasureConsumer,
    log,
    logIdentity: new LogIdentity(logId),
    codec,
    streams,
    engine,
    metrics,
    histories: new MemoryHistory(database, log, codec, engine),
    embedder,
    embeddingWorker,
    vectors: new VectorCache(database, keys, embedder.contract, documents),
    intents: overrides.intents ?? (configuration.intent && new OpenAiIntentExtractor(configuration.intent)),
    evaluator: overrides.evaluator ?? (configuration.evaluator && new OpenAiEvaluator(configuration.evaluator)),
    stop: () => started.stop(),
  };
}

/** The server of DATABASE_URL, or the embedded PostgreSQL in the data folder with the keys beside it. */
async function openDatabase(
  { database: { url, pool }, masterKey, dataFolder }: Configuration,
  given: Database | undefined,
  started: Started,
): Promise<{ database: Database; masterKey: MasterKey; folder: DataFolder | undefined }> {
  if (url !== undefined) {
    if (!masterKey) throw new Error('a server database needs MNEME_MASTER_KEY');
    const database = given ?? new Database(url, false, pool);
    if (!given) started.add(() => database.close());
    return { database, masterKey: new MasterKey(masterKey), folder: undefined };
  }
  const folder = DataFolder.open(dataFolder);
  started.add(() => Promise.resolve(folder.release()));
  const key = masterKey ?? folder.masterKey();
  const embedded = await startEmbeddedPostgres(folder.databaseDirectory);
  started.add(() => embedded.stop());
  const database = new Database(embedded.url, true, 1);
  started.add(() => database.close());
  return { database, masterKey: new MasterKey(key), folder };
}

function openEventLog({ eventLog }: Configuration, database: Database, logger: JsonLogger, started: Started): EventLog {
  switch (eventLog.kind) {
    case 'postgres': {
      const log = new PostgresEventLog(database);
      started.add(() => log.close());
      return log;
    }
    case 'eventstoredb': {
      const log = new EventStoreDbEventLog({ connectionString: eventLog.url, logger: logger.records });
      started.add(() => log.close());
      return log;
    }
    default:
      return eventLog satisfies never;
  }
}

function openEmbedder(settings: EmbeddingSettings): EmbeddingGenerator {
  switch (settings.provider) {
    case 'bundled':
      return new BundledEmbedder({ workers: settings.workers });
    case 'openai':
      return new OpenAiEmbedder(settings);
    case 'shared_words':
      return new SharedWordsEmbedder();
    default:
      return settings satisfies never;
  }
}
