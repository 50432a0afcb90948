import { ApiProperty } from '@nestjs/swagger';
import type { EvidenceDetails, PublishedRevisionRow, SourceDetails } from '../../projections/evidence/evidence-queries.js';
import type { Answer } from '../http/openapi.js';
import type { SourceWithRevisions } from './evidence-queries.handler.js';
import { authorities, type Scalar, sourceTypes } from './evidence.js';

const statuses = ['current', 'quarantined', 'supersession_pending', 'superseded', 'retracted', 'erased'];
const uuid = { format: 'uuid' } as const;
const optionalUuid = { format: 'uuid', nullable: true, type: String } as const;
const optionalText = { nullable: true, type: String } as const;
const time = { format: 'date-time', type: String } as const;
const optionalTime = { ...time, nullable: true } as const;

export class RememberEvidenceReceiptResponse {
  @ApiProperty(uuid) evidence_id!: string;
  @ApiProperty({ enum: ['created', 'duplicate'], description: 'A duplicate answers with the first one’s id.' }) outcome!: string;
  @ApiProperty({ enum: statuses }) status!: string;
  @ApiProperty(optionalUuid) source_id!: string | null;
}

export class BatchItemReceiptResponse {
  @ApiProperty({ description: 'Place of the item in the request, from 0.' }) index!: number;
  @ApiProperty({ enum: ['created', 'duplicate', 'refused'] }) outcome!: string;
  @ApiProperty(optionalUuid) evidence_id!: string | null;
  @ApiProperty({ enum: statuses, nullable: true }) status!: string | null;
  @ApiProperty(optionalUuid) source_id!: string | null;
  @ApiProperty({ ...optionalText, description: 'Of a refusal: a problem code of the single request.' }) code!: string | null;
  @ApiProperty({ ...optionalText, description: 'Field of the item at fault.' }) field!: string | null;
}

export class BatchReceiptResponse {
  @ApiProperty({ type: [BatchItemReceiptResponse] }) items!: BatchItemReceiptResponse[];
}

export class EvidenceReceiptResponse {
  @ApiProperty(uuid) evidence_id!: string;
  @ApiProperty({ enum: statuses }) status!: string;
}

export class EvidenceResponse {
  @ApiProperty(uuid) evidence_id!: string;
  @ApiProperty(optionalUuid) profile_id!: string | null;
  @ApiProperty() scope!: string;
  @ApiProperty() content!: string;
  @ApiProperty(optionalText) author!: string | null;
  @ApiProperty({ type: [String] }) subjects!: string[];
  @ApiProperty(optionalUuid) source_id!: string | null;
  @ApiProperty(optionalText) source_key!: string | null;
  @ApiProperty(optionalText) source_revision!: string | null;
  @ApiProperty(optionalText) group!: string | null;
  @ApiProperty({ nullable: true, type: Number }) sequence!: number | null;
  @ApiProperty({ enum: sourceTypes }) source_type!: string;
  @ApiProperty({ enum: authorities }) authority!: string;
  @ApiProperty({ type: [String] }) labels!: string[];
  @ApiProperty({ type: 'object', additionalProperties: true }) metadata!: Record<string, Scalar>;
  @ApiProperty(optionalTime) occurred_at!: Date | null;
  @ApiProperty(optionalTime) valid_from!: Date | null;
  @ApiProperty(optionalTime) valid_to!: Date | null;
  @ApiProperty({ type: [String], description: 'Every handle it was remembered with.' }) external_ids!: string[];
  @ApiProperty({ enum: statuses }) status!: string;
  @ApiProperty(optionalUuid) replacement_id!: string | null;
  @ApiProperty({ description: 'Whether its revision is the current one of its source; true without one.' })
  revision_current!: boolean;
  @ApiProperty({ description: 'Evidence of an erased source is recalled no more.' }) source_erased!: boolean;
  @ApiProperty() owner_active!: boolean;
  @ApiProperty({ description: 'Whether recall may return it now.' }) eligible!: boolean;
  @ApiProperty(time) recorded_at!: Date;
  @ApiProperty({ description: 'Version for If-Match.' }) revision!: number;
}

export class EvidenceListResponse {
  @ApiProperty({ type: [EvidenceResponse] }) items!: EvidenceResponse[];
  @ApiProperty(optionalText) next_cursor!: string | null;
}

export class PublishReceiptResponse {
  @ApiProperty(uuid) source_id!: string;
  @ApiProperty({ description: 'Of the current revision among the published, from 1.' }) number!: number;
  @ApiProperty({ enum: ['published', 'unchanged'] }) outcome!: string;
}

export class SourceReceiptResponse {
  @ApiProperty(uuid) source_id!: string;
  @ApiProperty({ enum: ['erased'] }) status!: string;
}

export class SourceResponse {
  @ApiProperty(uuid) source_id!: string;
  @ApiProperty() key!: string;
  @ApiProperty({ description: 'The one published last.' }) current_revision!: string;
  @ApiProperty({ description: 'Its number, in the order of publication from 1.' }) number!: number;
  @ApiProperty({ ...optionalUuid, description: 'Who published first: its owner.' }) profile_id!: string | null;
  @ApiProperty(time) published_at!: Date;
  @ApiProperty({ description: 'Version for If-Match.' }) revision!: number;
}

export class PublishedRevisionResponse {
  @ApiProperty() number!: number;
  @ApiProperty() revision!: string;
  @ApiProperty(optionalUuid) profile_id!: string | null;
  @ApiProperty(time) published_at!: Date;
}

export class SourceDetailsResponse extends SourceResponse {
  @ApiProperty({ type: [PublishedRevisionResponse], description: 'The latest 100, the latest first; the trace has all.' })
  revisions!: PublishedRevisionResponse[];
}

export class SourceListResponse {
  @ApiProperty({ type: [SourceResponse] }) items!: SourceResponse[];
  @ApiProperty(optionalText) next_cursor!: string | null;
}

export function evidenceResponse(row: EvidenceDetails): Answer<EvidenceResponse> {
  const { evidence_id, profile_id, scope, content, author, source_id, source_key, source_revision, group_name, sequence } = row;
  const { source_type, authority, occurred_at, valid_from, valid_to, status, replacement_id, recorded_at, revision } = row;
  const { revision_current, source_erased, owner_active, eligible } = row;
  return {
    ...{ evidence_id, profile_id, scope, content, author },
    subjects: JSON.parse(row.subjects) as string[],
    ...{ source_id, source_key, source_revision, group: group_name, sequence, source_type, authority },
    labels: JSON.parse(row.labels) as string[],
    metadata: JSON.parse(row.metadata) as Record<string, Scalar>,
    ...{ occurred_at, valid_from, valid_to },
    external_ids: JSON.parse(row.external_ids) as string[],
    ...{ status, replacement_id, revision_current, source_erased, owner_active, eligible },
    recorded_at,
    revision: Number(revision),
  };
}

export function sourceResponse(row: SourceDetails): Answer<SourceResponse> {
  const { source_id, source_key: key, current_revision, number, profile_id, published_at, revision } = row;
  return { source_id, key, current_revision, number, profile_id, published_at, revision: Number(revision) };
}

export const sourceDetailsResponse = ({ source, revisions }: SourceWithRevisions): Answer<SourceDetailsResponse> => ({
  ...sourceResponse(source),
  revisions: revisions.map(publishedRevision),
});

const publishedRevision = (row: PublishedRevisionRow): Answer<PublishedRevisionResponse> => {
  const { number, source_revision: revision, profile_id, published_at } = row;
  return { number, revision, profile_id, published_at };
};
