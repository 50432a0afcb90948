import { ApiProperty } from '@nestjs/swagger';
import {
  abstentionReasons,
  answerabilities,
  answerabilityReasons,
  answerCheckReasons,
  answerCheckStatuses,
  calibrationStatuses,
  localRerankerStatuses,
  rerankerStatuses,
  tiers,
} from '../ranking/score-contract.closed-sets.js';

/** What every recall says about itself; the field by field account is the score contract's page in `docs/`. */
export class ScoreContractResponse {
  @ApiProperty({ enum: ['2'] }) score_contract_version!: string;
  @ApiProperty({ enum: calibrationStatuses }) calibration_status!: string;
  @ApiProperty({ nullable: true, type: String }) calibration_id!: string | null;
  @ApiProperty({ nullable: true, type: Number }) answer_confidence!: number | null;
  @ApiProperty() abstained!: boolean;
  @ApiProperty({ enum: abstentionReasons, nullable: true, type: String }) abstention_reason!: string | null;
  @ApiProperty() abstention_note!: string;
  @ApiProperty({ enum: tiers }) tier!: string;
  @ApiProperty() warming_up!: boolean;
  @ApiProperty() status_note!: string;
  @ApiProperty({ enum: answerCheckStatuses }) answer_check_status!: string;
  @ApiProperty() answer_check_ran!: boolean;
  @ApiProperty({ enum: answerCheckReasons }) answer_check_reason!: string;
  @ApiProperty() answer_check_note!: string;
  @ApiProperty({ enum: answerabilities }) answerability!: string;
  @ApiProperty({ enum: answerabilityReasons }) answerability_reason!: string;
  @ApiProperty({ enum: rerankerStatuses }) reranker_status!: string;
  @ApiProperty({ enum: localRerankerStatuses }) local_reranker_status!: string;
  @ApiProperty({ nullable: true, type: Object }) support!: object | null;
}
