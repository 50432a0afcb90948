import { Controller, Get } from '@nestjs/common';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { ProjectionStatus } from '../../projections/engine/status.js';
import { Database } from '../database/database.js';
import { ErasureConsumer } from '../erasure/erasure-consumer.js';
import { EventLog } from '../event-log/event-log.js';
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

class Readiness {
  @ApiProperty({
    type: String,
    enum: ['ready', 'degraded'],
    description: 'degraded: a read model is stopped or lags; see projections.',
  })
  status!: 'ready' | 'degraded';

  @ApiProperty({ type: ProjectionHealth, isArray: true })
  projections!: ProjectionHealth[];
}

/** A dependency that has not answered by then counts as unreachable, milliseconds. */
const probeTimeoutMs = 3_000;
/** Lag from which a read model counts as lagging, seconds. */
const lagging = 10;

@Public()
@ApiTags('operations')
@Controller('health')
export class HealthController {
  constructor(
    private readonly log: EventLog,
    private readonly database: Database,
    private readonly engine: ProjectionEngine,
    private readonly erasureConsumer: ErasureConsumer,
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
    const projections = await this.projections();
    // Never a 503 for lag: it would take all replicas away at once, while writes and most reads still work.
    return { status: projections?.every(isLevel) ? 'ready' : 'degraded', projections: projections?.map(healthOf) ?? [] };
  }

  private async projections(): Promise<ProjectionStatus[] | undefined> {
    const status = this.engine.status();
    return (await answers(status)) ? status : undefined;
  }
}

const isLevel = ({ state, lag }: ProjectionStatus): boolean =>
  state !== 'stopped' && state !== 'building' && lag.seconds < lagging;

const healthOf = ({ name, state, lag }: ProjectionStatus): Answer<ProjectionHealth> => ({
  name,
  state,
  lag_seconds: lag.seconds,
});

/** Whether a probe succeeds in time. */
const answers = (probe: Promise<unknown>): Promise<boolean> =>
  inTime(probe, probeTimeoutMs).then(
    (answer) => answer !== 'late',
    () => false,
  );
