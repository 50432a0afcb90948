import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { Command, type HttpCommand } from '../http/command-context.js';
import { fieldProblem } from '../http/http-problem.js';
import { type Answer, Operation } from '../http/openapi.js';
import { ReadQuery } from '../http/paging.js';
import { ReadsFrom } from '../http/read-models.js';
import { Receipt } from '../http/receipts.js';
import { Id } from '../http/validation/id.js';
import { GetExecution } from './procedure-queries.handler.js';
import { FeedbackRequest } from './procedure-requests.js';
import { ExecutionResponse, executionResponse, FeedbackReceiptResponse } from './procedure-responses.js';
import { RecordFeedback } from './record-feedback.handler.js';

/** Runs of procedures, and what people say about them. */
@Controller('v1/executions')
@ApiTags('procedures')
export class ExecutionsController {
  constructor(
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
  ) {}

  @Get(':id')
  @RequireScope('memory:read')
  @ReadsFrom('procedures', 'judged_counters')
  @Operation({
    id: 'get_execution',
    summary: 'One run with the verdict that counts',
    kind: 'read',
    returns: ExecutionResponse,
    problems: { 404: 'No such run in the team: not_found.', 410: 'Its verdicts were pruned: execution_pruned.' },
  })
  async get(
    @TeamActor() { team }: TeamActor,
    @Id() id: string,
    @Query() _query: ReadQuery,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Answer<ExecutionResponse>> {
    const row = await this.queries.execute(new GetExecution(team, id));
    void reply.header('etag', `"${row.revision}"`);
    return executionResponse(row);
  }

  @Post(':id/feedback')
  @RequireScope('feedback:write')
  @Operation({
    id: 'record_feedback',
    summary: 'A person’s verdict and scores on a run',
    kind: 'write',
    status: 201,
    returns: FeedbackReceiptResponse,
    problems: { 404: 'No such run in the team: not_found.', 410: 'Pruned or erased: execution_pruned, erased.' },
  })
  async feedback(@Command() { context, expectedRevision }: HttpCommand, @Id() id: string, @Body() body: FeedbackRequest) {
    const { worked, ...scores } = body;
    if (worked === undefined && Object.keys(scores).length === 0) {
      throw fieldProblem('worked', 'required', 'say worked, or give a score');
    }
    const command = new RecordFeedback(context, id, { worked: worked ?? null, scores }, expectedRevision);
    const { revision, position, ...receipt } = await this.commands.execute(command);
    return new Receipt(receipt, { revision, position });
  }
}
