import { Controller, Get, Param, Post } from '@nestjs/common';
import { ApiParam, ApiProperty, ApiTags } from '@nestjs/swagger';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { ProjectionStatus } from '../../projections/engine/status.js';
import { OperatorsAllowed, RequireScope } from './authentication.js';
import { errorFacts } from '../error-facts.js';
import { HttpProblem, notFound } from './http-problem.js';
import { JsonLogger } from './json-logger.js';
import { type Answer, Operation } from './openapi.js';

class Lag {
  @ApiProperty({ type: 'integer', description: 'Positions between read model and head; bytes on logs that count in bytes.' })
  positions!: number;

  @ApiProperty({ type: Number, description: 'Age of the oldest event that is not in the read model yet.' })
  seconds!: number;
}

class RebuildView {
  @ApiProperty({ type: 'integer', description: 'Last position in its rows; -1 before the first.' })
  position!: number;

  @ApiProperty({ type: Number, description: 'Events a second.' })
  rate!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Seconds until it is level with the log at this rate.' })
  eta_seconds!: number | null;
}

class ProjectionView {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: 'integer' })
  version!: number;

  @ApiProperty({ type: String, enum: ['caught_up', 'catching_up', 'building', 'stopped'] })
  state!: string;

  @ApiProperty({ type: 'integer', description: 'Last position in the read model; -1 before the first.' })
  position!: number;

  @ApiProperty({ type: 'integer', description: 'Last position of the log.' })
  head!: number;

  @ApiProperty({ type: Lag })
  lag!: Lag;

  @ApiProperty({ type: Number, description: 'Events a second.' })
  rate!: number;

  @ApiProperty({ type: Number, nullable: true, description: 'Seconds until the head at this rate.' })
  eta_seconds!: number | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why it stopped; never holds content.' })
  last_error!: string | null;

  @ApiProperty({
    type: 'integer',
    description: 'Number of the build that serves; grows with every rebuild, 0 while none serves.',
  })
  build!: number;

  @ApiProperty({ type: RebuildView, nullable: true, description: 'The build that is to replace it, while it is being made.' })
  rebuild!: RebuildView | null;

  @ApiProperty({ type: String, nullable: true, description: 'Why the last rebuild failed; never holds content.' })
  rebuild_error!: string | null;
}

class ProjectionList {
  @ApiProperty({ type: ProjectionView, isArray: true })
  items!: ProjectionView[];
}

class RebuildStarted {
  @ApiProperty({ type: String })
  name!: string;

  @ApiProperty({ type: String, enum: ['building'] })
  state!: 'building';
}

@RequireScope('projections:manage')
@OperatorsAllowed()
@ApiTags('operations')
@Controller('v1/projections')
export class ProjectionsController {
  private readonly rebuilding = new Set<string>();

  constructor(
    private readonly engine: ProjectionEngine,
    private readonly logger: JsonLogger,
  ) {}

  @Get()
  @Operation({ id: 'list_projections', summary: 'Read models and how far they are.', kind: 'operation', returns: ProjectionList })
  async list(): Promise<Answer<ProjectionList>> {
    return { items: (await this.engine.status()).map(viewOf) };
  }

  @Post(':name/rebuild')
  @ApiParam({ name: 'name', type: String })
  @Operation({
    id: 'rebuild_projection',
    summary: 'Builds a read model anew from the log, beside the one that serves, then switches.',
    kind: 'operation',
    status: 202,
    returns: RebuildStarted,
    problems: { 404: 'No such read model: not_found.', 409: 'It is being rebuilt already: rebuild_running.' },
  })
  async rebuild(@Param('name') name: string): Promise<Answer<RebuildStarted>> {
    if (this.rebuilding.has(name)) throw new HttpProblem(409, 'rebuild_running', { headers: { 'retry-after': '10' } });
    const known = (await this.engine.status()).find((status) => status.name === name);
    if (!known) throw notFound();
    if (known.state === 'building' || this.rebuilding.has(name)) {
      throw new HttpProblem(409, 'rebuild_running', { headers: { 'retry-after': '10' } });
    }
    this.rebuilding.add(name);
    void this.run(name);
    return { name, state: 'building' };
  }

  /** In the background: a rebuild takes longer than a request may. Its outcome is in the status and in the logs. */
  private async run(name: string): Promise<void> {
    try {
      await this.engine.rebuild(name);
      this.logger.records.info({ projection: name }, 'projection rebuilt');
    } catch (error) {
      this.logger.records.error({ projection: name, ...errorFacts(error) }, 'rebuilding a projection failed');
    } finally {
      this.rebuilding.delete(name);
    }
  }
}

const viewOf = ({ position, head, lag, rebuild, ...rest }: ProjectionStatus): Answer<ProjectionView> => ({
  ...rest,
  position: Number(position),
  head: Number(head),
  lag: { positions: Number(lag.positions), seconds: lag.seconds },
  rebuild: rebuild && { ...rebuild, position: Number(rebuild.position) },
});
