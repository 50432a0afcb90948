import { Body, Controller, Delete, Get, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiBody, ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Clock } from '../config/clock.js';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { BodyLimit, batchBodyLimit } from '../http/body.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { HttpProblem } from '../http/http-problem.js';
import { type Answer, Operation } from '../http/openapi.js';
import { defaultLimit, pageOf, parseCursor, positionPlace, ReadQuery } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { EraseEvidence } from './erase-evidence.handler.js';
import { EvidenceBatch } from './evidence-batch.js';
import { GetEvidence, ListEvidence } from './evidence-queries.handler.js';
import { evidenceInput, ListEvidenceQuery, RememberBatchRequest, RememberEvidenceRequest } from './evidence-requests.js';
import {
  BatchReceiptResponse,
  EvidenceListResponse,
  EvidenceReceiptResponse,
  EvidenceResponse,
  evidenceResponse,
  RememberEvidenceReceiptResponse,
} from './evidence-responses.js';
import { RememberEvidence } from './remember-evidence.handler.js';

/** Evidence: remember, browse, erase. What becomes of it in between is the lifecycle's controller. */
@Controller('v1/evidence')
@ApiTags('evidence')
export class EvidenceController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly batches: EvidenceBatch,
    private readonly clock: Clock,
  ) {}

  @Post()
  @RequireScope('memory:write')
  @Operation({
    id: 'remember',
    summary: 'Remember evidence; the same again answers with the first one’s id',
    kind: 'write',
    status: 201,
    returns: RememberEvidenceReceiptResponse,
  })
  @ApiResponse({ status: 200, type: RememberEvidenceReceiptResponse, description: 'It was known already' })
  async remember(
    @Command() { context, expectedRevision }: HttpCommand,
    @Body() body: RememberEvidenceRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const command = new RememberEvidence(context, evidenceInput(body), expectedRevision);
    const { receipt, ...written } = await this.commands.execute(command);
    void reply.status(receipt.outcome === 'created' ? 201 : 200);
    return new Receipt(receipt, written);
  }

  @Post('batch')
  @RequireScope('memory:write')
  @BodyLimit(batchBodyLimit)
  @Operation({
    id: 'remember_batch',
    summary: 'Remember up to 200 pieces of evidence, each for itself: a bad one is refused alone',
    kind: 'write',
    returns: BatchReceiptResponse,
  })
  @ApiBody({ type: RememberBatchRequest })
  async rememberBatch(@Command() { context, expectedRevision }: HttpCommand, @Body() body: unknown) {
    if (expectedRevision !== undefined) throw new HttpProblem(422, 'if_match_not_allowed', { field: 'If-Match' });
    const { items, position } = await this.batches.remember(context, body);
    return new Receipt({ items }, { position, revision: 'no_stream' });
  }

  @Get()
  @RequireScope('memory:read')
  @ReadsFrom('evidence', 'access')
  @Operation({ id: 'list_evidence', summary: 'Browse evidence, the latest first', kind: 'read', returns: EvidenceListResponse })
  async list(@TeamActor() { team }: TeamActor, @Query() query: ListEvidenceQuery): Promise<Answer<EvidenceListResponse>> {
    const { scope, status, author, group, authority, label, subject, eligible, limit = defaultLimit } = query;
    const rows = await this.queries.execute(
      new ListEvidence({
        ...{ team, scope, status, author, group, authority, label, subject, eligible },
        profile: query.profile_id,
        source: query.source_id,
        sourceRevision: query.source_revision,
        sourceType: query.source_type,
        externalId: query.external_id,
        validAt: this.clock.now(),
        before: parseCursor(query.cursor, positionPlace),
        limit: limit + 1,
      }),
    );
    return pageOf(rows, limit, ({ position }) => [position], evidenceResponse);
  }

  @Get(':id')
  @RequireScope('memory:read')
  @ReadsFrom('evidence', 'access')
  @Operation({
    id: 'get_evidence',
    summary: 'One piece of evidence, with what follows for it from its source and its owner',
    kind: 'read',
    returns: EvidenceResponse,
    problems: { 404: 'No such evidence in the team, or one that was erased: not_found.' },
  })
  async get(
    @TeamActor() { team }: TeamActor,
    @Id() id: string,
    @Query() _query: ReadQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Answer<EvidenceResponse>> {
    const row = await this.queries.execute(new GetEvidence(team, id, this.clock.now()));
    void reply.header('etag', `"${row.revision}"`);
    return evidenceResponse(row);
  }

  @Delete(':id')
  @RequireScope('erase', 'admin')
  @Operation({
    id: 'erase_evidence',
    summary: 'Erase evidence, for ever; for its owner or an administrator',
    kind: 'write',
    returns: EvidenceReceiptResponse,
    problems: { 404: 'No such evidence in the team: not_found.' },
  })
  async erase(@TeamActor() { scopes }: TeamActor, @Command() { context, expectedRevision }: HttpCommand, @Id() id: string) {
    const command = new EraseEvidence(context, id, scopes.includes('admin'), expectedRevision);
    const { revision, position, ...receipt } = await this.commands.execute(command);
    return new Receipt(receipt, { revision, position });
  }
}
