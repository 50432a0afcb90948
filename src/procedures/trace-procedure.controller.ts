import { Controller, Get, Query } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { Operation } from '../http/openapi.js';
import { Positions } from '../http/positions.js';
import { ReadsFrom } from '../http/read-models.js';
import { Id } from '../http/validation/id.js';
import { TraceResponse, traceResponse } from '../trace/trace-responses.js';
import { TraceQuery } from './procedure-requests.js';
import { JudgedCountersResponse } from './procedure-responses.js';
import { TraceExecution, TraceProcedure, type TraceRequest } from './trace-procedure.handler.js';

class ProcedureStateResponse {
  @ApiProperty({ enum: ['pending_review', 'active', 'rejected', 'archived', 'erased'] }) status!: string;
  @ApiProperty({ nullable: true, type: String }) parent_id!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true }) content!: object | null;
  @ApiProperty() counters!: JudgedCountersResponse;
}

class ExecutionStateResponse {
  @ApiProperty({ format: 'uuid' }) execution_id!: string;
  @ApiProperty({ format: 'uuid' }) procedure_id!: string;
  @ApiProperty() agent_success!: boolean;
  @ApiProperty({ nullable: true, type: Boolean }) evaluator_success!: boolean | null;
  @ApiProperty({ nullable: true, type: Boolean }) feedback_worked!: boolean | null;
  @ApiProperty({ type: 'object', additionalProperties: { type: 'number' } }) scores!: object;
  @ApiProperty({ enum: ['feedback', 'evaluator', 'agent'] }) source!: string;
  @ApiProperty() success!: boolean;
  @ApiProperty() pruned!: boolean;
}

export class ProcedureTraceResponse extends TraceResponse {
  @ApiProperty({ description: 'After every event, whichever of them are on this page.' }) state!: ProcedureStateResponse;
}

export class ExecutionTraceResponse extends TraceResponse {
  @ApiProperty({ description: 'After every event, whichever of them are on this page.' }) state!: ExecutionStateResponse;
}

/** History replayed from the log. */
@Controller('v1')
@ApiTags('trace')
export class TraceProcedureController {
  constructor(
    private readonly queries: QueryBus,
    private readonly positions: Positions,
  ) {}

  @Get('procedures/:id/trace')
  @RequireScope('memory:read', 'audit:read')
  @ReadsFrom('event_refs')
  @Operation({
    id: 'trace_procedure',
    summary: 'Everything that happened to a procedure and its runs',
    kind: 'read',
    returns: ProcedureTraceResponse,
    problems: { 404: 'No such memory in the team: not_found.' },
  })
  async procedure(@TeamActor() actor: TeamActor, @Id() id: string, @Query() query: TraceQuery) {
    return traceResponse(await this.queries.execute(new TraceProcedure(this.request(actor, id, query))), this.positions);
  }

  @Get('executions/:id/trace')
  @RequireScope('memory:read', 'audit:read')
  @ReadsFrom('event_refs')
  @Operation({
    id: 'trace_execution',
    summary: 'Everything that happened to one run',
    kind: 'read',
    returns: ExecutionTraceResponse,
    problems: { 404: 'No such memory in the team: not_found.' },
  })
  async execution(@TeamActor() actor: TeamActor, @Id() id: string, @Query() query: TraceQuery) {
    return traceResponse(await this.queries.execute(new TraceExecution(this.request(actor, id, query))), this.positions);
  }

  private request({ team, scopes }: TeamActor, id: string, query: TraceQuery): TraceRequest {
    const after = query.cursor === undefined ? -1n : this.positions.parse(query.cursor, 'cursor');
    return { team, id, content: scopes.includes('memory:read'), after, maxEvents: query.max_events };
  }
}
