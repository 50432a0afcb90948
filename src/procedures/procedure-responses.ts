import { ApiProperty } from '@nestjs/swagger';
import type { ExecutionRow } from '../../projections/judged-counters/judged-counters.projection.js';
import type { CandidateRow, ProcedureDetails } from '../../projections/procedures/procedure-queries.js';
import { AsOfResponse } from '../http/as-of.js';
import type { Answer } from '../http/openapi.js';
import { verdictOf } from './execution.js';
import type { RecalledProcedure } from './recall-procedures.handler.js';

const statuses = ['pending_review', 'active', 'rejected', 'archived', 'erased'];
const uuid = { format: 'uuid' } as const;
const optionalUuid = { format: 'uuid', nullable: true, type: String } as const;
const time = { format: 'date-time', type: String } as const;
const optionalTime = { ...time, nullable: true } as const;

export class ProcedureReceiptResponse {
  @ApiProperty(uuid) procedure_id!: string;
  @ApiProperty({ enum: statuses }) status!: string;
}

export class RunReceiptResponse {
  @ApiProperty(uuid) execution_id!: string;
  @ApiProperty(uuid) procedure_id!: string;
  @ApiProperty({ enum: ['evaluator', 'agent'], description: 'Whose verdict counted when the run was stored.' }) source!: string;
  @ApiProperty() success!: boolean;
}

export class RememberReceiptResponse extends RunReceiptResponse {
  @ApiProperty({ description: 'false when the version was known already and got another run' }) created!: boolean;
  @ApiProperty({ enum: statuses }) status!: string;
}

export class FeedbackReceiptResponse {
  @ApiProperty(uuid) execution_id!: string;
  @ApiProperty(uuid) procedure_id!: string;
  @ApiProperty({ enum: ['feedback', 'evaluator', 'agent'] }) source!: string;
  @ApiProperty() success!: boolean;
}

export class ProcedureResponse {
  @ApiProperty(uuid) procedure_id!: string;
  @ApiProperty() scope!: string;
  @ApiProperty() question!: string;
  @ApiProperty({ nullable: true, type: String }) intent!: string | null;
  @ApiProperty({ type: 'object', additionalProperties: true }) graph!: Record<string, unknown>;
  @ApiProperty() version!: string;
  @ApiProperty(optionalUuid) parent_id!: string | null;
  @ApiProperty({ enum: statuses }) status!: string;
  @ApiProperty(optionalUuid) profile_id!: string | null;
  @ApiProperty(time) remembered_at!: Date;
}

export class JudgedCountersResponse {
  @ApiProperty({ description: 'All runs, pruned ones included.' }) runs!: number;
  @ApiProperty() successes!: number;
  @ApiProperty({ description: 'Runs that a person or an evaluator judged.' }) judged_runs!: number;
  @ApiProperty() judged_successes!: number;
  @ApiProperty(optionalTime) last_run_at!: Date | null;
}

export class ProcedureDetailsResponse extends ProcedureResponse {
  @ApiProperty({ description: 'Version for If-Match.' }) revision!: number;
  @ApiProperty() counters!: JudgedCountersResponse;
}

const asOf = { type: AsOfResponse, nullable: true, description: 'The moment it is of; null for now.' } as const;

export class ProcedureAtResponse extends ProcedureDetailsResponse {
  @ApiProperty(asOf) as_of!: AsOfResponse | null;
}

export class ProcedureListResponse {
  @ApiProperty({ type: [ProcedureDetailsResponse] }) items!: ProcedureDetailsResponse[];
  @ApiProperty({ nullable: true, type: String }) next_cursor!: string | null;
  @ApiProperty(asOf) as_of!: AsOfResponse | null;
}

export class ExecutionResponse {
  @ApiProperty(uuid) execution_id!: string;
  @ApiProperty(uuid) procedure_id!: string;
  @ApiProperty({ enum: ['feedback', 'evaluator', 'agent'] }) source!: string;
  @ApiProperty() success!: boolean;
  @ApiProperty() judged!: boolean;
  @ApiProperty({ nullable: true, type: Number }) correctness!: number | null;
  @ApiProperty({ nullable: true, type: Number }) completeness!: number | null;
  @ApiProperty({ nullable: true, type: Number }) usefulness!: number | null;
  @ApiProperty(optionalUuid) profile_id!: string | null;
  @ApiProperty(time) ran_at!: Date;
  @ApiProperty(time) recorded_at!: Date;
  @ApiProperty({ description: 'Version for If-Match.' }) revision!: number;
}

class RunsBehindResponse {
  @ApiProperty() runs!: number;
  @ApiProperty() judged_runs!: number;
  @ApiProperty({ description: 'Whether the rate started from the parent’s rather than from 0.5.' }) uses_parent_prior!: boolean;
}

/** Similarity, success rate and freshness, each 0 to 1, and the contract's numbers of one match. */
export class ProcedureMatchResponse {
  @ApiProperty() procedure!: ProcedureResponse;
  @ApiProperty() similarity!: number;
  @ApiProperty() success_rate!: number;
  @ApiProperty() freshness!: number;
  @ApiProperty() total!: number;
  @ApiProperty() evidence!: RunsBehindResponse;
  @ApiProperty({ description: 'Similarity, 0 to 1.' }) relevance_score!: number;
  @ApiProperty({ description: 'The total; diagnostic.' }) ranking_score!: number;
  @ApiProperty() memory_confidence!: number;
  @ApiProperty() trust_score!: number;
  @ApiProperty({ description: 'From 1.' }) rank_position!: number;
  @ApiProperty({ enum: ['related', 'supported', 'weak'] }) tier!: string;
  @ApiProperty({ deprecated: true, description: 'Read relevance_score.' }) score!: number;
  @ApiProperty({ deprecated: true, description: 'Read memory_confidence.' }) confidence!: number;
}

export function procedureResponse(row: Omit<CandidateRow, 'similarity'> | ProcedureDetails): Answer<ProcedureResponse> {
  const { procedure_id, scope, question, intent, version, parent_id, status, profile_id, remembered_at } = row;
  const graph = JSON.parse(row.graph) as Record<string, unknown>;
  return { procedure_id, scope, question, intent, graph, version, parent_id, status, profile_id, remembered_at };
}

export function procedureDetailsResponse(row: ProcedureDetails): Answer<ProcedureDetailsResponse> {
  const { runs, successes, judged_runs, judged_successes, last_run_at } = row;
  const counters = { runs, successes, judged_runs, judged_successes, last_run_at };
  return { ...procedureResponse(row), revision: Number(row.revision), counters };
}

export function executionResponse(row: Omit<ExecutionRow, 'team_id'>): Answer<ExecutionResponse> {
  const { execution_id, procedure_id, correctness, completeness, usefulness, profile_id, ran_at, recorded_at } = row;
  const verdict = verdictOf(row);
  return {
    execution_id,
    procedure_id,
    ...verdict,
    correctness,
    completeness,
    usefulness,
    profile_id,
    ran_at,
    recorded_at,
    revision: Number(row.revision),
  };
}

/** A match before the contract is finalised: relevance is similarity, and ranking is the total. */
export function rankedMatch({ row, score, evidence }: RecalledProcedure) {
  return { procedure: procedureResponse(row), ...score, evidence, relevance_score: score.similarity, ranking_score: score.total };
}
