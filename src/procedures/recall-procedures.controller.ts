import { Body, Controller, Post, Query, Res } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { ApiProperty, ApiTags, IntersectionType } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { Configuration } from '../config/configuration.js';
import { AsOfResponse, PastReads } from '../http/as-of.js';
import { RequireScope, TeamActor } from '../http/authentication.js';
import { HttpProblem } from '../http/http-problem.js';
import { Operation } from '../http/openapi.js';
import { Positions } from '../http/positions.js';
import { ReadsFrom, readModelBehind } from '../http/read-models.js';
import { RequestSignal } from '../http/request-signal.js';
import { ScoreContractResponse } from '../recall/score-contract-response.js';
import {
  answerCheckStatus,
  finaliseScores,
  isAnswerCheckProblem,
  parseAnswerCheck,
  responseFields,
} from '../ranking/score-contract.js';
import { RecallProceduresRequest, RecallQuery } from './procedure-requests.js';
import { ProcedureMatchResponse, rankedMatch } from './procedure-responses.js';
import { PendingVectors } from './pending-vectors.js';
import { RecallProcedures } from './recall-procedures.handler.js';

class ProcedureMatches {
  @ApiProperty({ type: [ProcedureMatchResponse] }) matches!: ProcedureMatchResponse[];
  @ApiProperty({ type: AsOfResponse, nullable: true, description: 'The moment it ranks as of; null for now.' })
  as_of!: AsOfResponse | null;
}

export class RecallProceduresResponse extends IntersectionType(ProcedureMatches, ScoreContractResponse) {}

const readModels = ['procedures', 'judged_counters'] as const;

@Controller('v1/procedures')
@ApiTags('recall')
export class RecallProceduresController {
  constructor(
    private readonly queries: QueryBus,
    private readonly positions: Positions,
    private readonly pendingVectors: PendingVectors,
    private readonly past: PastReads,
    private readonly configuration: Configuration,
  ) {}

  @Post('recall')
  @RequireScope('memory:read')
  @ReadsFrom(...readModels)
  @Operation({
    id: 'recall_procedures',
    summary: 'The procedures most worth trying for a question',
    kind: 'read',
    returns: RecallProceduresResponse,
  })
  async recall(
    @TeamActor() { team }: TeamActor,
    @Body() body: RecallProceduresRequest,
    @Query() query: RecallQuery,
    @RequestSignal() signal: AbortSignal,
    @Res({ passthrough: true }) reply: FastifyReply,
  ) {
    const request = parseAnswerCheck(body.answer_check ?? query.answer_check);
    if (isAnswerCheckProblem(request))
      throw new HttpProblem(400, request.code, { field: 'answer_check', detail: request.message });
    const min_position = body.min_position ?? query.min_position;
    const asOf = await this.past.resolve(
      { known_at: body.known_at ?? query.known_at, at_position: body.at_position ?? query.at_position },
      { team, projections: readModels, signal, elapsedMs: reply.elapsedTime },
    );
    if (min_position !== undefined) await this.vectorsOf(team, this.positions.parse(min_position), reply.elapsedTime, signal);
    if (asOf) await this.vectorsOf(team, asOf.position, reply.elapsedTime, signal);
    const { scope, question, intent, top, min_similarity: minSimilarity } = body;
    const recalled = await this.queries.execute(
      new RecallProcedures(team, { scope, question, intent, top, minSimilarity }, signal, asOf),
    );
    const resultCount = recalled.matches.length;
    return {
      matches: finaliseScores(recalled.matches.map(rankedMatch)),
      as_of: this.past.response(asOf),
      ...responseFields({
        completed: true,
        resultCount,
        candidateCount: recalled.candidateCount,
        removedByFloor: recalled.removedByCutOff,
        answerCheck: answerCheckStatus({ ...noAnswerCheck, request, resultCount }),
      }),
    };
  }

  /** @param elapsedMs of this request: waiting for read models and for vectors shares one patience */
  private async vectorsOf(team: string, position: bigint, elapsedMs: number, signal: AbortSignal): Promise<void> {
    const patienceMs = this.configuration.minPositionWaitMs - elapsedMs;
    const reached = await this.pendingVectors.missing(team, position, patienceMs, signal);
    if (reached === undefined) return;
    throw readModelBehind({ requested: this.positions.token(position), reached: this.positions.token(reached) });
  }
}

/** No judge reads procedures: the check is off, whatever a caller asks. */
const noAnswerCheck = {
  configured: false,
  systemRecall: false,
  isQuestion: true,
  readsOtherProfile: false,
  otherProfileAllowed: false,
  memo: false,
  timeLeft: true,
  judge: 'ready',
} as const;
