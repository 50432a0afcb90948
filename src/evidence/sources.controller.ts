import { Body, Controller, Delete, Get, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { type Answer, Operation } from '../http/openapi.js';
import { defaultLimit, pageOf, parseCursor, positionPlace, ReadQuery } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { EraseSource } from './erase-evidence.handler.js';
import { GetSource, ListSources } from './evidence-queries.handler.js';
import { ListSourcesQuery, PublishRevisionRequest } from './evidence-requests.js';
import {
  PublishReceiptResponse,
  SourceDetailsResponse,
  sourceDetailsResponse,
  SourceListResponse,
  SourceReceiptResponse,
  sourceResponse,
} from './evidence-responses.js';
import { PublishRevision } from './publish-revision.handler.js';

/** Where evidence comes from: publish revisions, list, erase. */
@Controller('v1/sources')
@ApiTags('sources')
export class SourcesController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Post('revisions')
  @RequireScope('memory:write')
  @Operation({
    id: 'publish_source_revision',
    summary: 'Make a revision the current one of its source; evidence of any other is recalled no more',
    kind: 'write',
    status: 201,
    returns: PublishReceiptResponse,
  })
  @ApiResponse({ status: 200, type: PublishReceiptResponse, description: 'It was the current one already' })
  async publish(
    @Command() { context, expectedRevision }: HttpCommand,
    @Body() { key, revision }: PublishRevisionRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const command = new PublishRevision(context, { key, revision }, expectedRevision);
    const { receipt, ...written } = await this.commands.execute(command);
    void reply.status(receipt.outcome === 'published' ? 201 : 200);
    return new Receipt(receipt, written);
  }

  @Get()
  @RequireScope('memory:read')
  @ReadsFrom('evidence')
  @Operation({
    id: 'list_sources',
    summary: 'List sources with a published revision, the latest first',
    kind: 'read',
    returns: SourceListResponse,
  })
  async list(
    @TeamActor() { team }: TeamActor,
    @Query() { key, limit = defaultLimit, cursor }: ListSourcesQuery,
  ): Promise<Answer<SourceListResponse>> {
    const before = parseCursor(cursor, positionPlace);
    const rows = await this.queries.execute(new ListSources({ team, key, before, limit: limit + 1 }));
    return pageOf(rows, limit, ({ position }) => [position], sourceResponse);
  }

  @Get(':id')
  @RequireScope('memory:read')
  @ReadsFrom('evidence')
  @Operation({
    id: 'get_source',
    summary: 'One source with its latest revisions',
    kind: 'read',
    returns: SourceDetailsResponse,
    problems: { 404: 'No such source in the team, none of it published, or it was erased: not_found.' },
  })
  async get(
    @TeamActor() { team }: TeamActor,
    @Id() id: string,
    @Query() _query: ReadQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Answer<SourceDetailsResponse>> {
    const found = await this.queries.execute(new GetSource(team, id));
    void reply.header('etag', `"${found.source.revision}"`);
    return sourceDetailsResponse(found);
  }

  @Delete(':id')
  @RequireScope('erase', 'admin')
  @Operation({
    id: 'erase_source',
    summary: 'Erase a source, for ever; its evidence stays with its owners, but is recalled no more',
    kind: 'write',
    returns: SourceReceiptResponse,
    problems: { 404: 'No such source in the team, or none of it published: not_found.' },
  })
  async erase(@TeamActor() { scopes }: TeamActor, @Command() { context, expectedRevision }: HttpCommand, @Id() id: string) {
    const written = await this.commands.execute(new EraseSource(context, id, scopes.includes('admin'), expectedRevision));
    return new Receipt({ source_id: id, status: 'erased' }, written);
  }
}
