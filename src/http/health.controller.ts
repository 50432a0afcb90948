import { Controller, Get } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { ProjectionStatus } from '../../projections/engine/status.js';
import { Database } from '../database/database.js';
import { EmbeddingWorker, type EmbeddingStatus } from '../embedding/embedding-worker.js';
import { ErasureConsumer } from '../erasure/erasure-consumer.js';
import { EventLog } from '../event-log/event-log.js';
import { Reactors } from '../reactors/reactors.js';
import type { ReactorStatus } from '../reactors/status.js';
import { inTime } from '../timer.js';
import { Public } from './authentication.js';
import { HttpProblem } from './http-problem.js';
import { type Answer, Operation } from './openapi.js';

class Liveness {
  @ApiProperty({ type: String, enum: ['live'] })
  status!: 'live';
}

class ProjectionHealth {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: String, enum: ['caught_up', 'catching_up', 'building', 'stopped'] })
  state!: string;

  @ApiProperty({ type: Number, description: 'Age of the oldest event that is not in the read model yet, seconds.' })
  lag_seconds!: number;
}

class ReactorHealth {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: String, enum: ['caught_up', 'catching_up', 'stopped'] })
  state!: string;

  @ApiProperty({ type: Number, description: 'Age of the oldest event that it has not reacted to yet, seconds.' })
  lag_seconds!: number;
}

class EmbeddingHealth {
  @ApiProperty({
    type: String,
    enum: ['working', 'failing'],
    description: 'failing: the model makes no vectors for stored documents at present.',
  })
  model!: 'working' | 'failing';

  @ApiProperty({ type: String, nullable: true, description: 'Why it is failing, for example unreachable.' })
  reason!: string | null;

  @ApiProperty({ type: Number, description: 'Documents without a vector, which recall by meaning does not find.' })
  pending!: number;

  @ApiProperty({ type: Number, description: 'Those of them that failed and wait for a retry.' })
  failed!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Age of the oldest document without a vector, seconds.' })
  oldest_pending_seconds!: number | null;
}

class Readiness {
  @ApiProperty({
    type: String,
    enum: ['ready', 'degraded'],
    description: 'degraded: a read model or a reactor is stopped or lags, or vectors are not made in time.',
  })
  status!: 'ready' | 'degraded';

  @ApiProperty({ type: ProjectionHealth, isArray: true })
  projections!: ProjectionHealth[];

  @ApiProperty({ type: ReactorHealth, isArray: true })
  reactors!: ReactorHealth[];

  @ApiProperty({ type: EmbeddingHealth, nullable: true, description: 'null when it could not be told in time.' })
  embeddings!: EmbeddingHealth | null;
}

/** A dependency that has not answered by then counts as unreachable, milliseconds. */
const probeTimeoutMs = 3_000;
/** Lag from which a read model or a reactor counts as lagging, seconds. */
const lagging = 10;
/** Age of a document that still waits for its first vector, from which vectors count as late, seconds. */
const late = 60;

@Public()
@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly engine: ProjectionEngine,
    private readonly reactors: Reactors,
    private readonly erasureConsumer: ErasureConsumer,
    private readonly embeddings: EmbeddingWorker,
  ) {}

  @Get('live')
  @Operation({ id: 'check_liveness', summary: 'Whether the process answers.', kind: 'public', returns: Liveness })
  live(): Answer<Liveness> {
    return { status: 'live' };
  }

  @Get('ready')
  @Operation({
    id: 'check_readiness',
    summary: 'Whether the service can accept writes and serve reads: log and database answer.',
    kind: 'public',
    returns: Readiness,
  })
  async ready(): Promise<Answer<Readiness>> {
    const [log, database] = await Promise.all([answers(this.log.head()), answers(this.database.query('SELECT 1'))]);
    if (!log || !database) {
      const reach = (reached: boolean) => (reached ? 'reachable' : 'unreachable');
      throw new HttpProblem(503, 'not_ready', {
        headers: { 'retry-after': '5' },
        extensions: { log: reach(log), database: reach(database) },
      });
    }
    // Keys restored from a backup may open what was erased since: nothing is served before they are destroyed again.
    if (!this.erasureConsumer.level) {
      throw new HttpProblem(503, 'not_ready', {
        detail: 'Keys of erased memories are still being destroyed.',
        headers: { 'retry-after': '5' },
      });
    }
    const [projections, reactors, embeddings] = await Promise.all([
      answerOf(this.engine.status()),
      answerOf(this.reactors.status()),
      answerOf(this.embeddings.status()),
    ]);
    // Never a 503 for lag: it would take all replicas away at once, while writes and most reads still work.
    const well = projections?.every(isLevel) && reactors?.every(isLevel) && embeddings !== undefined && inTimeWith(embeddings);
    return {
      status: well ? 'ready' : 'degraded',
      projections: projections?.map(healthOf) ?? [],
      reactors: reactors?.map(healthOf) ?? [],
      embeddings: embeddings ? embeddingHealthOf(embeddings) : null,
    };
  }
}

const isLevel = ({ state, lag }: ProjectionStatus | ReactorStatus): boolean =>
  state !== 'stopped' && state !== 'building' && lag.seconds < lagging;

const healthOf = ({ name, state, lag }: ProjectionStatus | ReactorStatus): Answer<ProjectionHealth & ReactorHealth> => ({
  name,
  state,
  lag_seconds: lag.seconds,
});

/** Documents that failed themselves wait for a retry, some for ever: no reason to call the service degraded. */
const inTimeWith = ({ outage, oldestUntriedSeconds }: EmbeddingStatus): boolean => !outage && (oldestUntriedSeconds ?? 0) < late;

const embeddingHealthOf = ({ outage, pending, failed, oldestPendingSeconds }: EmbeddingStatus): Answer<EmbeddingHealth> => ({
  model: outage ? 'failing' : 'working',
  reason: outage?.reason ?? null,
  pending,
  failed,
  oldest_pending_seconds: oldestPendingSeconds,
});

/** What a probe answers; undefined when it fails, or takes too long. */
const answerOf = <T>(probe: Promise<T>): Promise<T | undefined> =>
  inTime(probe, probeTimeoutMs).then(
    (answer) => (answer === 'late' ? undefined : answer),
    () => undefined,
  );

/** Whether a probe succeeds in time. */
const answers = async (probe: Promise<unknown>): Promise<boolean> => (await answerOf(probe.then(() => true))) ?? false;
