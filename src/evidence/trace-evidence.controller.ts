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
import { TraceEvidenceQuery } from './evidence-requests.js';
import { TraceEvidence, type TraceRequest, TraceSource } from './trace-evidence.handler.js';

const optionalText = { nullable: true, type: String } as const;

class PublicationResponse {
  @ApiProperty() number!: number;
  @ApiProperty(optionalText) revision!: string | null;
  @ApiProperty(optionalText) profile_id!: string | null;
  @ApiProperty({ format: 'date-time', type: String }) published_at!: Date;
}

class SourceStateResponse {
  @ApiProperty({ format: 'uuid' }) source_id!: string;
  @ApiProperty({ enum: ['none', 'published', 'erased'] }) status!: string;
  @ApiProperty(optionalText) key!: string | null;
  @ApiProperty(optionalText) current_revision!: string | null;
  @ApiProperty() number!: number;
  @ApiProperty({ type: [PublicationResponse], description: 'The latest 100, in order of publication.' })
  revisions!: PublicationResponse[];
  @ApiProperty() revisions_truncated!: boolean;
}

class EvidenceStateResponse {
  @ApiProperty({ enum: ['current', 'quarantined', 'supersession_pending', 'superseded', 'retracted', 'erased'] }) status!: string;
  @ApiProperty(optionalText) profile_id!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true }) facts!: object | null;
  @ApiProperty({ type: 'object', additionalProperties: true, nullable: true }) content!: object | null;
  @ApiProperty({ type: [String] }) external_ids!: string[];
  @ApiProperty(optionalText) quarantined_from!: string | null;
  @ApiProperty(optionalText) replacement_id!: string | null;
  @ApiProperty({ type: [String], description: 'What it replaced.' }) supersedes!: string[];
  @ApiProperty({ type: [String], description: 'What replaced it, and that in turn, up to four steps.' }) superseded_by!: string[];
  @ApiProperty({ type: SourceStateResponse, nullable: true }) source!: SourceStateResponse | null;
  @ApiProperty({ nullable: true, type: Boolean }) revision_current!: boolean | null;
}

const afterAll = 'After every event up to the moment it is of, whichever of them are on this page.';

export class EvidenceTraceResponse extends TraceResponse {
  @ApiProperty({ description: afterAll }) state!: EvidenceStateResponse;
}

export class SourceTraceResponse extends TraceResponse {
  @ApiProperty({ description: afterAll }) state!: SourceStateResponse;
}

const readModels = ['event_refs'] as const;

/** History replayed from the log. */
@Controller('v1')
@ApiTags('trace')
export class TraceEvidenceController {
  constructor(
    private readonly queries: QueryBus,
    private readonly positions: Positions,
    private readonly past: PastReads,
  ) {}

  @Get('evidence/:id/trace')
  @RequireScope('memory:read', 'audit:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'trace_evidence',
    summary: 'Everything that happened to a piece of evidence, with its source and its lineage',
    kind: 'read',
    returns: EvidenceTraceResponse,
    problems: { 404: 'No such memory in the team: not_found.' },
  })
  async evidence(
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Query() query: TraceEvidenceQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) { elapsedTime }: FastifyReply,
  ) {
    const request = await this.request(actor, id, query, { signal, elapsedMs: elapsedTime });
    return this.answer(request, await this.queries.execute(new TraceEvidence(request)));
  }

  @Get('sources/:id/trace')
  @RequireScope('memory:read', 'audit:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'trace_source',
    summary: 'Everything that happened to a source',
    kind: 'read',
    returns: SourceTraceResponse,
    problems: { 404: 'No such source in the team, or none of it published: not_found.' },
  })
  async source(
    @TeamActor() actor: TeamActor,
    @Id() id: string,
    @Query() query: TraceEvidenceQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) { elapsedTime }: FastifyReply,
  ) {
    const request = await this.request(actor, id, query, { signal, elapsedMs: elapsedTime });
    return this.answer(request, await this.queries.execute(new TraceSource(request)));
  }

  private async request(
    { team, scopes }: TeamActor,
    id: string,
    query: TraceEvidenceQuery,
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
