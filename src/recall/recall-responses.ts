import { ApiProperty, IntersectionType } from '@nestjs/swagger';
import { AsOfResponse } from '../http/as-of.js';
import type { Answer } from '../http/openapi.js';
import { adjustments } from '../ranking/rerank/adjustments.js';
import { branches } from '../ranking/fusion/fusion.js';
import { type ResultScores } from '../ranking/score-contract.js';
import { resultTiers } from '../ranking/score-contract.closed-sets.js';
import type { RecalledContexts, RecalledEvidence } from './recall-evidence.handler.js';
import { ScoreContractResponse } from './score-contract-response.js';

class ContextResponse {
  @ApiProperty({ format: 'uuid' }) evidence_id!: string;
  @ApiProperty({ description: 'The text of the evidence.' }) context!: string;
}

class EvidenceResultResponse extends ContextResponse {
  @ApiProperty({ type: [ContextResponse], required: false, description: 'With depth 2 or 3: what stands before and behind it.' })
  neighbours?: ContextResponse[];
  @ApiProperty({ required: false, description: 'With include scores, as are the following.' }) relevance_score?: number;
  @ApiProperty({ required: false }) ranking_score?: number;
  @ApiProperty({ required: false }) memory_confidence?: number;
  @ApiProperty({ required: false }) trust_score?: number;
  @ApiProperty({ required: false, description: 'From 1.' }) rank_position?: number;
  @ApiProperty({ required: false, enum: resultTiers }) tier?: string;
  @ApiProperty({ required: false, deprecated: true }) score?: number;
  @ApiProperty({ required: false, deprecated: true }) confidence?: number;
}

class BranchShareResponse {
  @ApiProperty({ enum: branches }) branch!: string;
  @ApiProperty({ description: 'From 1.' }) rank!: number;
  @ApiProperty({ description: 'The branch’s own.' }) score!: number;
}

class AdjustmentResponse {
  @ApiProperty({ enum: adjustments }) name!: string;
  @ApiProperty({ description: 'What the score was multiplied by.' }) factor!: number;
}

class ExplainedResultResponse {
  @ApiProperty({ format: 'uuid' }) evidence_id!: string;
  @ApiProperty({ type: [BranchShareResponse] }) branches!: BranchShareResponse[];
  @ApiProperty({ description: 'Score after fusion.' }) fused!: number;
  @ApiProperty({ description: 'Score after the adjustments: the order.' }) final!: number;
  @ApiProperty({ type: [AdjustmentResponse] }) adjustments!: AdjustmentResponse[];
}

class DroppedResponse {
  @ApiProperty({ format: 'uuid' }) evidence_id!: string;
  @ApiProperty({ enum: ['hard_anchors', 'known', 'vanished', 'byte_budget', 'limit'] }) reason!: string;
}

class ExplainedQueryResponse {
  @ApiProperty({ type: [String] }) terms!: string[];
  @ApiProperty({ type: [String], description: 'Identifiers that each result must have.' }) required_anchors!: string[];
  @ApiProperty({ type: [String] }) authors!: string[];
}

class RankingProfileResponse {
  @ApiProperty() name!: string;
  @ApiProperty() version!: number;
}

export class ExplanationResponse {
  @ApiProperty({ type: RankingProfileResponse }) profile!: RankingProfileResponse;
  @ApiProperty({ type: ExplainedQueryResponse }) query!: ExplainedQueryResponse;
  @ApiProperty({ type: [ExplainedResultResponse] }) results!: ExplainedResultResponse[];
  @ApiProperty({ type: [DroppedResponse], description: 'The best 200 that were not returned, and why.' })
  dropped!: DroppedResponse[];
}

class Contexts {
  @ApiProperty({ type: [EvidenceResultResponse], description: 'The best first.' }) results!: EvidenceResultResponse[];
  @ApiProperty({ type: [Object], description: 'Ways on through the graph; empty while nothing is known of it.' })
  discovery_paths!: object[];
  @ApiProperty({ type: [Object] }) conflict_refs!: object[];
  @ApiProperty({ type: [Object] }) related_hypotheses!: object[];
  @ApiProperty({ nullable: true, type: String, description: 'What to do for more.' }) guidance!: string | null;
  @ApiProperty({
    enum: ['no_candidates', 'hard_anchors', 'known', null],
    nullable: true,
    type: String,
    description: 'Why it is empty.',
  })
  empty_reason!: string | null;
  @ApiProperty({
    format: 'uuid',
    nullable: true,
    type: String,
    description: 'Of the record of this recall; null unless recorded.',
  })
  recall_id!: string | null;
  @ApiProperty({ type: AsOfResponse, nullable: true, description: 'The moment it is as of; null for now.' })
  as_of!: AsOfResponse | null;
  @ApiProperty({ type: ExplanationResponse, required: false }) explanation?: ExplanationResponse;
}

export class RecallResponse extends IntersectionType(Contexts, ScoreContractResponse) {}

/** Dropped candidates named in an explanation. */
const mostDropped = 200;

export const explanationOf = ({ ranking, results, dropped }: RecalledContexts): Answer<ExplanationResponse> => ({
  profile: ranking.profile,
  query: {
    terms: ranking.query.terms,
    required_anchors: ranking.query.anchors.hard,
    authors: ranking.query.authors,
  },
  results: results.map(({ evidence_id, ranked }) => ({
    evidence_id,
    branches: ranked.branches,
    fused: ranked.fused,
    final: ranked.score,
    adjustments: ranked.adjustments,
  })),
  dropped: [...ranking.dropped, ...dropped].slice(0, mostDropped).map(({ id, reason }) => ({ evidence_id: id, reason })),
});

export const contextOf = ({ evidence_id, context, neighbours }: RecalledEvidence, depth: number) => ({
  evidence_id,
  context,
  ...(depth > 1 && { neighbours }),
});

/** What the contract's numbers are made from. */
export const scoredContext = (result: RecalledEvidence, depth: number) => ({
  ...contextOf(result, depth),
  relevance_score: result.ranked.relevance,
  ranking_score: result.ranked.score,
});

export type ScoredContext = ReturnType<typeof contextOf> & Partial<ResultScores>;
