import { type DynamicModule, Global, Module, type Provider } from '@nestjs/common';
import { CqrsModule } from '@nestjs/cqrs';
import { ProjectionEngine } from '../projections/engine/projection-engine.js';
import { AccessModule } from './access/access.module.js';
import { Clock } from './config/clock.js';
import { Configuration } from './config/configuration.js';
import { Database } from './database/database.js';
import { EmbeddingGenerator } from './embedding/embedding-generator.js';
import { EmbeddingWorker } from './embedding/embedding-worker.js';
import { VectorCache } from './embedding/vector-cache.js';
import { DataKeys } from './encryption/data-keys.js';
import { ErasureConsumer } from './erasure/erasure-consumer.js';
import { KeyDestroyer } from './erasure/key-destroyer.js';
import { Codec } from './event-log/codec.js';
import { EventLog } from './event-log/event-log.js';
import { LogIdentity } from './event-log/log-identity.js';
import { Streams } from './event-log/streams.js';
import { HttpModule } from './http/http.module.js';
import { JsonLogger } from './http/json-logger.js';
import type { Infrastructure } from './infrastructure.js';
import { Evaluator } from './judging/evaluator.js';
import { IntentExtractor } from './judging/intent-extractor.js';
import { Metrics } from './metrics/metrics.js';
import { EvidenceModule } from './evidence/evidence.module.js';
import { ProceduresModule } from './procedures/procedures.module.js';
import { RecallModule } from './recall/recall.module.js';
import { Reactors } from './reactors/reactors.js';
import { MemoryHistory } from './trace/memory-history.js';

const providersOf = (infrastructure: Infrastructure): Provider[] => [
  { provide: Configuration, useValue: infrastructure.configuration },
  { provide: Clock, useValue: infrastructure.clock },
  { provide: JsonLogger, useValue: infrastructure.logger },
  { provide: Database, useValue: infrastructure.database },
  { provide: DataKeys, useValue: infrastructure.keys },
  { provide: KeyDestroyer, useValue: infrastructure.keyDestroyer },
  { provide: ErasureConsumer, useValue: infrastructure.erasureConsumer },
  { provide: EventLog, useValue: infrastructure.log },
  { provide: LogIdentity, useValue: infrastructure.logIdentity },
  { provide: Codec, useValue: infrastructure.codec },
  { provide: Streams, useValue: infrastructure.streams },
  { provide: ProjectionEngine, useValue: infrastructure.engine },
  { provide: Reactors, useValue: infrastructure.reactors },
  { provide: Metrics, useValue: infrastructure.metrics },
  { provide: MemoryHistory, useValue: infrastructure.histories },
  { provide: EmbeddingGenerator, useValue: infrastructure.embedder },
  { provide: EmbeddingWorker, useValue: infrastructure.embeddingWorker },
  { provide: VectorCache, useValue: infrastructure.vectors },
  ...(infrastructure.intents ? [{ provide: IntentExtractor, useValue: infrastructure.intents }] : []),
  ...(infrastructure.evaluator ? [{ provide: Evaluator, useValue: infrastructure.evaluator }] : []),
];

/** Makes what runs below available to every slice. */
@Global()
@Module({})
class InfrastructureModule {}

/** The whole application on top of a started infrastructure. */
@Module({})
export class AppModule {
  static on(infrastructure: Infrastructure): DynamicModule {
    const providers = providersOf(infrastructure);
    return {
      module: AppModule,
      imports: [
        { module: InfrastructureModule, providers, exports: providers },
        CqrsModule.forRoot(),
        HttpModule,
        AccessModule,
        EvidenceModule,
        ProceduresModule,
        RecallModule,
      ],
    };
  }
}
