import { Controller, Get, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiProperty, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PastReads } from '../http/as-of.js';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { Operation } from '../http/openapi.js';
import { Positions } from '../http/positions.js';
import { ReadsFrom } from '../http/read-models.js';
import { RequestSignal } from '../http/request-signal.js';
import { Id } from '../http/validation/id.js';
import { TraceResponse, traceResponse } from '../trace/trace-responses.js';
import type { Trace } from '../trace/trace.js';
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

const afterAll = 'After every event up to the moment it is of, whichever of them are on this page.';

export class ProcedureTraceResponse extends TraceResponse {
  @ApiProperty({ description: afterAll }) state!: ProcedureStateResponse;
}

export class ExecutionTraceResponse extends TraceResponse {
  @ApiProperty({ description: afterAll }) state!: ExecutionStateResponse;
}

const readModels = ['event_refs'] as const;

/** History replayed from the log. */
@Controller('v1')
@ApiTags('trace')
export class TraceProcedureController {
  constructor(
    private readonly queries: QueryBus,
    private readonly positions: Positions,
    private readonly past: PastReads,
  ) {}

  @Get('procedures/:id/trace')
  @RequireScope('memory:read', 'audit:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'trace_procedure',
    summary: 'Everything that happened to a procedure and its runs',
    kind: 'read',
    returns: ProcedureTraceResponse,
    problems: { 404: 'No such memory in the team: not_found.' },
  })
  async procedure(
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Query() query: TraceQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) { elapsedTime }: FastifyReply,
  ) {
    const request = await this.request(actor, id, query, { signal, elapsedMs: elapsedTime });
    return this.answer(request, await this.queries.execute(new TraceProcedure(request)));
  }

  @Get('executions/:id/trace')
  @RequireScope('memory:read', 'audit:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'trace_execution',
    summary: 'Everything that happened to one run',
    kind: 'read',
    returns: ExecutionTraceResponse,
    problems: { 404: 'No such memory in the team: not_found.' },
  })
  async execution(
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Query() query: TraceQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) { elapsedTime }: FastifyReply,
  ) {
    const request = await this.request(actor, id, query, { signal, elapsedMs: elapsedTime });
    return this.answer(request, await this.queries.execute(new TraceExecution(request)));
  }

  private async request(
    { team, scopes }: TeamActor,
    id: string,
    query: TraceQuery,
    wait: { signal: AbortSignal; elapsedMs: number },
  ): Promise<TraceRequest> {
    const after = query.cursor === undefined ? -1n : this.positions.parse(query.cursor, 'cursor');
    const asOf = await this.past.resolve(query, { team, projections: readModels, ...wait });
    return { team, id, content: scopes.includes('memory:read'), after, maxEvents: query.max_events, asOf };
  }

  private answer<State>({ asOf }: TraceRequest, trace: Trace<State>) {
    return traceResponse(trace, this.positions, this.past.response(asOf));
  }
}
