import {
  CodePoints,
  Flag,
  Integer,
  JsonObject,
  Nested,
  Nullable,
  OneOf,
  Opaque,
  Optional,
  Share,
  Slug,
  Timestamp,
  Uuid,
} from '../http/validation/fields.js';
import { AtPosition, KnownAt } from '../http/as-of.js';
import { bodyLimit } from '../http/body.js';
import { ListQuery, ReadQuery } from '../http/paging.js';
import { graphLimit, questionLimit } from './procedure.js';

/** How a run went, as its agent reports it. */
export class RunRequest {
  @Flag({ description: 'The agent’s own verdict.' })
  success!: boolean;

  @Optional()
  @CodePoints(0, bodyLimit, {
    description: 'What the agent answered. Blank, or over 32,000 characters, it is neither judged nor kept.',
  })
  answer?: string;

  @Optional()
  @Timestamp({ description: 'When the run happened; the time it is recorded when left out.' })
  occurred_at?: string;
}

export class RememberProcedureRequest {
  @Optional()
  @Slug({ description: 'Part of the team’s memory; recall searches exactly one.', example: 'default' })
  scope: string = 'default';

  @CodePoints(1, questionLimit, { example: 'How do I refund an order for a customer?' })
  question!: string;

  @Optional()
  @Slug({ description: 'What kind of question it is; extracted when left out and an extractor is configured.' })
  intent?: string;

  @JsonObject(graphLimit, { description: 'The plan: any JSON object.', example: { steps: ['find the order', 'refund it'] } })
  graph!: Record<string, unknown>;

  @Optional()
  @CodePoints(1, 64, { description: 'Label of the version.', example: '1.0' })
  version: string = '1.0';

  @Optional()
  @Uuid({ description: 'The version that this one improves on, in the same scope.' })
  parent_id?: string;

  @Optional()
  @Flag({ description: 'Start pending review. The team’s setting may ask for it too.' })
  review: boolean = false;

  @Nested(() => RunRequest, { description: 'The run that is recorded with it.' })
  run!: RunRequest;
}

export class RecallProceduresRequest {
  @Optional()
  @Slug({ example: 'default' })
  scope: string = 'default';

  @CodePoints(1, questionLimit, { example: 'How do I refund an order?' })
  question!: string;

  @Optional()
  @Slug({ description: 'Search this intent only.' })
  intent?: string;

  @Optional()
  @Integer(1, 50, { description: 'Most matches to return.' })
  top: number = 3;

  @Optional()
  @Share({ description: 'Least similarity of a match; the configured one when left out.' })
  min_similarity?: number;

  @Optional()
  @CodePoints(0, bodyLimit, { description: 'skip, no_reorder, full or context.' })
  answer_check?: string;

  @Optional()
  @Opaque({ description: 'Wait until this position is in the read models.' })
  min_position?: string;

  @KnownAt()
  known_at?: string;

  @AtPosition()
  at_position?: string;
}

/** Query of a read that may be of the past. */
export class PastReadQuery extends ReadQuery {
  @KnownAt()
  known_at?: string;

  @AtPosition()
  at_position?: string;
}

/** What a recall takes in its query as well as in its body. */
export class RecallQuery extends PastReadQuery {
  @Optional()
  @CodePoints(0, bodyLimit)
  answer_check?: string;
}

export class ReasonRequest {
  @Optional()
  @CodePoints(1, 2_000, { description: 'Why; kept with the event and erased with the procedure.' })
  reason?: string;
}

export class PruneRequest {
  @Timestamp({ description: 'Runs that happened before this time lose their verdicts.' })
  before!: string;
}

/** At least one of the four. */
export class FeedbackRequest {
  @Nullable()
  @Flag({ description: 'Whether it worked; null keeps the verdict as it is.' })
  worked?: boolean | null;

  @Optional()
  @Share()
  correctness?: number;

  @Optional()
  @Share()
  completeness?: number;

  @Optional()
  @Share()
  usefulness?: number;
}

export class ListProceduresQuery extends ListQuery {
  @KnownAt()
  known_at?: string;

  @AtPosition()
  at_position?: string;

  @Optional()
  @Slug()
  scope?: string;

  @Optional()
  @OneOf(['pending_review', 'active', 'rejected', 'archived'], { description: 'pending_review lists the review queue.' })
  status?: string;

  @Optional()
  @Slug()
  intent?: string;
}

export class TraceQuery extends PastReadQuery {
  @Optional()
  @Integer(1, 500, { description: 'Most events of one page.' })
  max_events: number = 100;

  @Optional()
  @Opaque({ description: 'next_cursor of the page before.' })
  cursor?: string;
}
