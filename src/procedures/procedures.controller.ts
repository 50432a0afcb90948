import { Body, Controller, Delete, Get, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { PastReads } from '../http/as-of.js';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { type Answer, Operation } from '../http/openapi.js';
import { defaultLimit, pageOf, parseCursor, positionPlace } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { RequestSignal } from '../http/request-signal.js';
import { Id } from '../http/validation/id.js';
import { ChangeProcedure } from './change-procedure.handler.js';
import { EraseProcedure } from './erase-procedure.handler.js';
import type { ProcedureCommand } from './procedure.js';
import { GetProcedure, ListProcedures } from './procedure-queries.handler.js';
import {
  ListProceduresQuery,
  PastReadQuery,
  PruneRequest,
  ReasonRequest,
  RememberProcedureRequest,
  RunRequest,
} from './procedure-requests.js';
import {
  ProcedureAtResponse,
  procedureDetailsResponse,
  ProcedureListResponse,
  ProcedureReceiptResponse,
  RememberReceiptResponse,
  RunReceiptResponse,
} from './procedure-responses.js';
import { RecordExecution } from './record-execution.handler.js';
import { RememberProcedure } from './remember-procedure.handler.js';
import type { ReportedRun } from './run-judge.js';

const readModels = ['procedures', 'judged_counters'] as const;

/** Procedures: remember, run, review, retire, erase, list. */
@Controller('v1/procedures')
@ApiTags('procedures')
export class ProceduresController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly past: PastReads,
  ) {}

  @Post()
  @RequireScope('memory:write')
  @Operation({
    id: 'remember_procedure',
    summary: 'Remember a version and record one run of it',
    kind: 'write',
    status: 201,
    returns: RememberReceiptResponse,
    problems: { 410: 'The version of a repeated command was erased: erased.' },
  })
  @ApiResponse({ status: 200, type: RememberReceiptResponse, description: 'A known version got another run' })
  async remember(
    @Command() { context, expectedRevision }: HttpCommand,
    @Body() body: RememberProcedureRequest,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const { scope, question, intent, graph, version, parent_id: parentId, review } = body;
    const input = { scope, question, intent, graph, version, parentId, review, run: reportedRun(body.run) };
    const { revision, position, ...receipt } = await this.commands.execute(
      new RememberProcedure(context, input, expectedRevision, signal),
    );
    void reply.status(receipt.created ? 201 : 200);
    return new Receipt(receipt, { revision, position });
  }

  @Get()
  @RequireScope('memory:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'list_procedures',
    summary: 'List versions, the latest first; the review queue with status=pending_review',
    kind: 'read',
    returns: ProcedureListResponse,
  })
  async list(
    @TeamActor() { team }: TeamActor,
    @Query() query: ListProceduresQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Answer<ProcedureListResponse>> {
    const { scope, status, intent, limit = defaultLimit, cursor } = query;
    const before = parseCursor(cursor, positionPlace);
    const asOf = await this.past.resolve(query, { team, projections: readModels, signal, elapsedMs: reply.elapsedTime });
    const filter = { team, scope, status, intent, before, limit: limit + 1 };
    const rows = await this.queries.execute(new ListProcedures(filter, asOf));
    const page = pageOf(rows, limit, ({ position }) => [position], procedureDetailsResponse);
    return { ...page, as_of: this.past.response(asOf) };
  }

  @Get(':id')
  @RequireScope('memory:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'get_procedure',
    summary: 'One version with its counters',
    kind: 'read',
    returns: ProcedureAtResponse,
    problems: { 404: 'No such procedure in the team, or one that was erased: not_found.' },
  })
  async get(
    @TeamActor() { team }: TeamActor,
    @Id() id: string,
    @Query() query: PastReadQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Answer<ProcedureAtResponse>> {
    const asOf = await this.past.resolve(query, { team, projections: readModels, signal, elapsedMs: reply.elapsedTime });
    const row = await this.queries.execute(new GetProcedure(team, id, asOf));
    // The version of now, for If-Match: that of a moment past would only be refused.
    if (!asOf) void reply.header('etag', `"${row.revision}"`);
    return { ...procedureDetailsResponse(row), as_of: this.past.response(asOf) };
  }

  @Post(':id/executions')
  @RequireScope('memory:write')
  @Operation({
    id: 'record_execution',
    summary: 'Record one run of a version',
    kind: 'write',
    status: 201,
    returns: RunReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  async recordExecution(
    @Command() { context, expectedRevision }: HttpCommand,
    @Id() id: string,
    @Body() body: RunRequest,
    @RequestSignal() signal: AbortSignal,
  ) {
    const command = new RecordExecution(context, id, reportedRun(body), expectedRevision, signal);
    const { revision, position, ...receipt } = await this.commands.execute(command);
    return new Receipt(receipt, { revision, position });
  }

  @Post(':id/approve')
  @RequireScope('admin')
  @Operation({
    id: 'approve_procedure',
    summary: 'Approve a version that waits for review',
    kind: 'write',
    returns: ProcedureReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  approve(@Command() command: HttpCommand, @Id() id: string, @Body() { reason }: ReasonRequest) {
    return this.change(command, { type: 'Approve', procedure_id: id, reason });
  }

  @Post(':id/reject')
  @RequireScope('admin')
  @Operation({
    id: 'reject_procedure',
    summary: 'Reject a version that waits for review',
    kind: 'write',
    returns: ProcedureReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  reject(@Command() command: HttpCommand, @Id() id: string, @Body() { reason }: ReasonRequest) {
    return this.change(command, { type: 'Reject', procedure_id: id, reason });
  }

  @Post(':id/archive')
  @RequireScope('memory:write')
  @Operation({
    id: 'archive_procedure',
    summary: 'Take an active version out of recall',
    kind: 'write',
    returns: ProcedureReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  archive(@Command() command: HttpCommand, @Id() id: string, @Body() { reason }: ReasonRequest) {
    return this.change(command, { type: 'Archive', procedure_id: id, reason });
  }

  @Post(':id/restore')
  @RequireScope('memory:write')
  @Operation({
    id: 'restore_procedure',
    summary: 'Bring an archived version back',
    kind: 'write',
    returns: ProcedureReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  restore(@Command() command: HttpCommand, @Id() id: string, @Body() { reason }: ReasonRequest) {
    return this.change(command, { type: 'Restore', procedure_id: id, reason });
  }

  @Post(':id/prune')
  @RequireScope('admin')
  @Operation({
    id: 'prune_executions',
    summary: 'Drop the verdicts of old runs; they count as agent-only from then on',
    kind: 'write',
    returns: ProcedureReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  prune(@Command() command: HttpCommand, @Id() id: string, @Body() { before }: PruneRequest) {
    return this.change(command, { type: 'Prune', procedure_id: id, before: new Date(before) });
  }

  @Delete(':id')
  @RequireScope('erase', 'admin')
  @Operation({
    id: 'erase_procedure',
    summary: 'Erase a version with its runs, for ever; for its author or an administrator',
    kind: 'write',
    returns: ProcedureReceiptResponse,
    problems: { 404: 'No such procedure in the team: not_found.', 410: 'It was erased: erased.' },
  })
  async erase(@TeamActor() { scopes }: TeamActor, @Command() { context, expectedRevision }: HttpCommand, @Id() id: string) {
    const command = new EraseProcedure(context, id, scopes.includes('admin'), expectedRevision);
    const { revision, position, ...receipt } = await this.commands.execute(command);
    return new Receipt(receipt, { revision, position });
  }

  private async change(
    { context, expectedRevision }: HttpCommand,
    change: Exclude<ProcedureCommand, { type: 'Remember' | 'Erase' }>,
  ) {
    const { revision, position, ...receipt } = await this.commands.execute(
      new ChangeProcedure(context, change, expectedRevision),
    );
    return new Receipt(receipt, { revision, position });
  }
}

function reportedRun({ success, answer, occurred_at }: RunRequest): ReportedRun {
  return { success, answer, occurredAt: occurred_at === undefined ? undefined : new Date(occurred_at) };
}
