import { accessProjection } from '../projections/access/access.projection.js';
import { ProjectionEngine } from '../projections/engine/projection-engine.js';
import { eventRefs, memoryIdsOf } from '../projections/event-refs/event-refs.projection.js';
import { evidenceSearchProjection } from '../projections/evidence-search/evidence-search.projection.js';
import { evidenceProjection } from '../projections/evidence/evidence.projection.js';
import { judgedCountersProjection } from '../projections/judged-counters/judged-counters.projection.js';
import { momentsOf } from '../projections/moments/moments.projection.js';
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
import { embeddingDocuments } from './embedding/embedding-documents.js';
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
import { MeasuredEmbedder } from './metrics/measured-embedder.js';
import { MeasuredEventLog } from './metrics/measured-event-log.js';
import { Metrics } from './metrics/metrics.js';
import { executionRetention } from './procedures/execution-retention.reactor.js';
import { Reactors } from './reactors/reactors.js';
import { StreamOperations } from './operations/stream-operations.js';
import { MemoryHistory } from './trace/memory-history.js';

/** Everything below the HTTP layer, started and connected. */
export interface Infrastructure {
  readonly configuration: Configuration;
  readonly clock: Clock;
  readonly logger: JsonLogger;
  /** Of the embedded default; undefined with DATABASE_URL. */
  readonly folder: DataFolder | undefined;
  /** Resolves when the embedded database ends by itself; nothing works any more. A server's database may come back. */
  readonly databaseLost: Promise<Error>;
  readonly database: Database;
  readonly keys: DataKeys;
  readonly keyDestroyer: KeyDestroyer;
  readonly erasureConsumer: ErasureConsumer;
  readonly log: EventLog;
  readonly logIdentity: LogIdentity;
  readonly codec: Codec;
  readonly streams: Streams;
  readonly engine: ProjectionEngine;
  readonly reactors: Reactors;
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
  evidenceProjection,
  evidenceSearchProjection,
  proceduresProjection,
  judgedCountersProjection,
  eventRefs(eventCatalogue.types, memoryIdsOf),
  momentsOf(eventCatalogue.types),
];

export const allReactors = [executionRetention];

/** What has been started, to be stopped in reverse order, also when a later start fails. */
class Started {
  private readonly stops: (() => Promise<void>)[] = [];

  add(stop: () => Promise<void>): void {
    this.stops.push(stop);
  }

  /** Stops everything, whatever fails on the way: the lock of the data folder goes last. @throws the first failure */
  async stop(): Promise<void> {
    const failures: unknown[] = [];
    for (let stop = this.stops.pop(); stop; stop = this.stops.pop()) await stop().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  }
}

/** What every stage of the start needs. */
interface Opening {
  readonly configuration: Configuration;
  readonly overrides: Overrides;
  readonly logger: JsonLogger;
  readonly started: Started;
}

type Stage<Part extends keyof Infrastructure> = Pick<Infrastructure, Part>;

/**
 * Starts and connects everything below the HTTP layer.
 *
 * @throws DataFolderInUse, MasterKeyFileUnusable, DatabaseUnsuitable, DatabaseUnavailable, MasterKeyMismatch, LogMismatch with
 *   messages that say what to do
 */
export async function openInfrastructure(configuration: Configuration, overrides: Overrides = {}): Promise<Infrastructure> {
  const started = new Started();
  try {
    return await open({
      configuration,
      overrides,
      logger: overrides.logger ?? new JsonLogger(configuration.logLevel),
      started,
    });
  } catch (error) {
    await started.stop().catch(() => undefined); // what stopped the start says more
    throw error;
  }
}

async function open(opening: Opening): Promise<Infrastructure> {
  const { configuration, overrides, logger, started } = opening;
  const storage = await openStorage(opening);
  // What it measures is started further down: a scrape comes only once everything runs.
  const metrics: Metrics = new Metrics({
    log: () => events.log.head(),
    projections: () => readers.engine.status(),
    reactors: () => readers.reactors.status(),
    embeddings: () => models.embeddingWorker.status(),
  });
  const events = await openEvents(opening, storage, metrics);
  const models = openModels(opening, storage, metrics);
  const clock = overrides.clock ?? new SystemClock();
  const readers = await startReaders(opening, { ...storage, ...events, ...models, metrics, clock });
  return {
    configuration,
    clock,
    logger,
    metrics,
    ...storage,
    ...events,
    ...models,
    ...readers,
    stop: () => started.stop(),
  };
}

type Storage = Stage<'database' | 'databaseLost' | 'folder' | 'keys'>;

/** The database with everything that no start can do without: roles, tables, and data keys that the master key opens. */
async function openStorage(opening: Opening): Promise<Storage> {
  const { masterKey, ...storage } = await openDatabase(opening);
  await checkRequirements(storage.database);
  await migrate(storage.database);
  const keys = new DataKeys(storage.database, masterKey);
  await keys.checkMasterKey();
  return { ...storage, keys };
}

/** The server of DATABASE_URL, or the embedded PostgreSQL in the data folder with the keys beside it. */
async function openDatabase(opening: Opening): Promise<Omit<Storage, 'keys'> & { masterKey: MasterKey }> {
  const { configuration, overrides, started } = opening;
  const { database: settings, masterKey, dataFolder } = configuration;
  if (settings.url !== undefined) {
    if (!masterKey) throw new Error('a server database needs MNEME_MASTER_KEY');
    const database = overrides.database ?? new Database(settings.url, false, settings.pool);
    if (!overrides.database) started.add(() => database.close());
    return { database, databaseLost: new Promise(() => undefined), folder: undefined, masterKey: new MasterKey(masterKey) };
  }
  const folder = DataFolder.open(dataFolder);
  started.add(() => Promise.resolve(folder.release()));
  const key = new MasterKey(masterKey ?? folder.masterKey());
  const embedded = await startEmbeddedPostgres(folder.databaseDirectory);
  started.add(() => embedded.stop());
  const database = new Database(embedded.url, true, 1);
  started.add(() => database.close());
  return { database, databaseLost: Promise.race([embedded.died, folder.lost]), folder, masterKey: key };
}

type Events = Stage<'log' | 'logIdentity' | 'codec' | 'streams'>;

/** The event log, measured, and what writes and reads our events in it. */
async function openEvents(opening: Opening, { database, keys }: Storage, metrics: Metrics): Promise<Events> {
  const log = new MeasuredEventLog(openEventLog(opening, database), metrics);
  const codec = new Codec(eventCatalogue, keys, opening.configuration.streamPrefix);
  const streams = new Streams(log, codec);
  const { logId } = await openLog(streams);
  return { log, logIdentity: new LogIdentity(logId), codec, streams };
}

function openEventLog({ configuration: { eventLog }, logger, started }: Opening, database: Database): EventLog {
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

type Models = Stage<'embedder' | 'embeddingWorker' | 'vectors' | 'intents' | 'evaluator'>;

/** The models that are configured, and what keeps and fills in their vectors; the worker is not started yet. */
function openModels(
  { configuration, overrides, logger, started }: Opening,
  { database, keys }: Storage,
  metrics: Metrics,
): Models {
  const embedder = new MeasuredEmbedder(overrides.embedder ?? openEmbedder(configuration.embedding), metrics);
  started.add(() => embedder.close());
  return {
    embedder,
    embeddingWorker: new EmbeddingWorker({
      database,
      generator: embedder,
      keys,
      documents: embeddingDocuments,
      logger: logger.records,
      observer: metrics.embeddings,
    }),
    vectors: new VectorCache(database, keys, embedder.contract, embeddingDocuments),
    intents: overrides.intents ?? (configuration.intent && new OpenAiIntentExtractor(configuration.intent)),
    evaluator: overrides.evaluator ?? (configuration.evaluator && new OpenAiEvaluator(configuration.evaluator)),
  };
}

export function openEmbedder(settings: EmbeddingSettings): EmbeddingGenerator {
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

type Readers = Stage<'engine' | 'reactors' | 'keyDestroyer' | 'erasureConsumer' | 'histories'>;

/** Starts all that follows the log, the erasures first: what they find is to be gone before anything shows it. */
async function startReaders(
  { configuration: { streamPrefix, projectionLeaseMs }, logger: { records: logger }, started }: Opening,
  below: Storage & Events & Models & Stage<'metrics' | 'clock'>,
): Promise<Readers> {
  const { database, keys, log, logIdentity, codec, streams, embedder, embeddingWorker, metrics, clock } = below;
  const { logId } = logIdentity;
  const keyDestroyer = new KeyDestroyer(database, keys);
  const erasureConsumer = new ErasureConsumer({ database, log, logId, streamPrefix, keyDestroyer, logger });
  const engine = new ProjectionEngine({
    database,
    log,
    codec,
    logId,
    projections: allProjections,
    operations: new StreamOperations(streams),
    logger,
    embeddingContract: embedder.contract.id,
    // The embedded database's folder is locked: whoever projected there before is dead.
    leaseMs: database.embedded ? 0 : projectionLeaseMs,
    onBatch: () => embeddingWorker.wake(),
  });
  const reactors = new Reactors({
    database,
    log,
    codec,
    streams,
    readModels: engine,
    logId,
    reactors: allReactors,
    clock,
    logger,
    observer: metrics.reactors,
  });
  for (const part of [erasureConsumer, engine]) {
    await part.start();
    started.add(() => part.stop());
  }
  // Who projects knows first that the read models have passed an event, so of several services that one reacts.
  await reactors.start(() => engine.projects);
  started.add(() => reactors.stop());
  // Who projects knows first of rows without a vector, so of several services that one makes them.
  embeddingWorker.start(() => engine.projects);
  started.add(() => embeddingWorker.stop());
  return { engine, reactors, keyDestroyer, erasureConsumer, histories: new MemoryHistory(database, log, codec, engine) };
}
