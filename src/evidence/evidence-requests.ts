import { ApiProperty } from '@nestjs/swagger';
import { AtPosition, KnownAt } from '../http/as-of.js';
import { ListQuery, ReadQuery } from '../http/paging.js';
import { CodePoints, Flag, Integer, OneOf, Opaque, Optional, Scalars, Slug, Timestamp, Uuid } from '../http/validation/fields.js';
import {
  authorities,
  type Authority,
  contentLimit,
  type EvidenceContent,
  type EvidenceFacts,
  type Scalar,
  type SourceType,
  sourceTypes,
  subjectLimit,
} from './evidence.js';

/** Code points, and numbers of things. Texts that are indexed stay below the 2,704 bytes that an index entry may have. */
export const limits = {
  author: 200,
  subject: 128,
  sourceKey: 500,
  sourceRevision: 128,
  group: 256,
  /** The largest int4. */
  sequence: 2_147_483_647,
  label: 64,
  labels: 32,
  metadata: { entries: 64, name: 64, text: 2_000 },
  externalId: 256,
  reason: 2_000,
  batch: 200,
} as const;

export class RememberEvidenceRequest {
  @CodePoints(1, contentLimit, { description: 'What was said or written.', example: 'Refunds take five days.' })
  content!: string;

  @Optional()
  @CodePoints(1, limits.author, { description: 'Name of who said or wrote it.', example: 'Mark' })
  author?: string;

  @Optional()
  @Slug({ description: 'Part of the team’s memory.', example: 'default' })
  scope: string = 'default';

  @Optional()
  @CodePoints(1, limits.subject, {
    description: 'Opaque ids of the people it is about; erasure of a subject goes by them.',
    list: { max: subjectLimit },
  })
  subjects: string[] = [];

  @Optional()
  @CodePoints(1, limits.sourceKey, { description: 'Where it came from: a name of yours, a path, a URL.', example: 'handbook' })
  source_key?: string;

  @Optional()
  @CodePoints(1, limits.sourceRevision, { description: 'Revision of the source it was taken from.', example: 'r7' })
  source_revision?: string;

  @Optional()
  @CodePoints(1, limits.group, { description: 'The conversation, session or document it stands in.' })
  group?: string;

  @Optional()
  @Integer(0, limits.sequence, { description: 'Its place in the group; neighbours are found by it.' })
  sequence?: number;

  @Optional()
  @OneOf(sourceTypes, { description: 'manual when left out.' })
  source_type: SourceType = 'manual';

  @Optional()
  @OneOf(authorities, { description: 'unknown when left out.' })
  authority: Authority = 'unknown';

  @Optional()
  @CodePoints(1, limits.label, { list: { max: limits.labels } })
  labels: string[] = [];

  @Optional()
  @Scalars(limits.metadata, { description: 'Searchable facts about it.', example: { channel: 'email' } })
  metadata: Record<string, Scalar> = {};

  @Optional()
  @Timestamp({ description: 'When it was said or written. Never set for you: recorded time is the log’s.' })
  occurred_at?: string;

  @Optional()
  @Timestamp({ description: 'From when it holds in the world, inclusive.' })
  valid_from?: string;

  @Optional()
  @Timestamp({ description: 'Until when it holds in the world, exclusive; later than valid_from.' })
  valid_to?: string;

  @Optional()
  @CodePoints(1, limits.externalId, { description: 'Your own handle; a duplicate gets yours added.' })
  external_id?: string;
}

export class BatchItemRequest extends RememberEvidenceRequest {
  @Optional()
  @CodePoints(1, 255, { description: 'As the header Idempotency-Key, for this item alone.' })
  idempotency_key?: string;
}

/** For the documentation: items are validated one by one, so that a bad one never loses the others. */
export class RememberBatchRequest {
  @ApiProperty({ type: [BatchItemRequest], minItems: 1, maxItems: limits.batch })
  items!: BatchItemRequest[];
}

export class EvidenceReasonRequest {
  @Optional()
  @CodePoints(1, limits.reason, { description: 'Why; kept with the event and erased with the evidence.' })
  reason?: string;
}

export class SupersedeRequest extends EvidenceReasonRequest {
  @Uuid({ description: 'Current evidence of the same owner.' })
  replacement_id!: string;
}

export class ListEvidenceQuery extends ListQuery {
  @Optional()
  @Slug()
  scope?: string;

  @Optional()
  @OneOf(['current', 'quarantined', 'supersession_pending', 'superseded', 'retracted'])
  status?: string;

  @Optional()
  @Flag({ description: 'Only what recall may return now, or only what it may not.' })
  eligible?: boolean;

  @Optional()
  @Uuid({ description: 'Its owner.' })
  profile_id?: string;

  @Optional()
  @CodePoints(1, limits.author)
  author?: string;

  @Optional()
  @Uuid()
  source_id?: string;

  @Optional()
  @CodePoints(1, limits.sourceRevision)
  source_revision?: string;

  @Optional()
  @CodePoints(1, limits.group)
  group?: string;

  @Optional()
  @OneOf(sourceTypes)
  source_type?: string;

  @Optional()
  @OneOf(authorities)
  authority?: string;

  @Optional()
  @CodePoints(1, limits.label)
  label?: string;

  @Optional()
  @CodePoints(1, limits.subject)
  subject?: string;

  @Optional()
  @CodePoints(1, limits.externalId)
  external_id?: string;
}

export class PublishRevisionRequest {
  @CodePoints(1, limits.sourceKey, { description: 'As source_key of evidence.', example: 'handbook' })
  key!: string;

  @CodePoints(1, limits.sourceRevision, { description: 'As source_revision of evidence.', example: 'r8' })
  revision!: string;
}

export class ListSourcesQuery extends ListQuery {
  @Optional()
  @CodePoints(1, limits.sourceKey)
  key?: string;
}

export class TraceEvidenceQuery extends ReadQuery {
  @KnownAt()
  known_at?: string;

  @AtPosition()
  at_position?: string;

  @Optional()
  @Integer(1, 500, { description: 'Most events of one page.' })
  max_events: number = 100;

  @Optional()
  @Opaque({ description: 'next_cursor of the page before.' })
  cursor?: string;
}

/** What is to be remembered, without the ids that follow from it. */
export interface EvidenceInput {
  readonly facts: Omit<EvidenceFacts, 'evidence_id' | 'generation' | 'source_id'>;
  readonly content: EvidenceContent;
}

export function evidenceInput(body: RememberEvidenceRequest): EvidenceInput {
  const { content, scope, source_type, authority, metadata } = body;
  return {
    facts: {
      sequence: body.sequence ?? null,
      source_type,
      authority,
      occurred_at: body.occurred_at ?? null,
      valid_from: body.valid_from ?? null,
      valid_to: body.valid_to ?? null,
    },
    content: {
      content,
      author: body.author ?? null,
      scope,
      subjects: [...new Set(body.subjects)],
      source_key: body.source_key ?? null,
      source_revision: body.source_revision ?? null,
      group: body.group ?? null,
      labels: [...new Set(body.labels)],
      metadata,
      external_id: body.external_id ?? null,
    },
  };
}
