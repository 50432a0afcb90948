import { authorities, type Authority, type Scalar, type SourceType, sourceTypes } from '../evidence/evidence.js';
import { AtPosition, KnownAt } from '../http/as-of.js';
import { bodyLimit } from '../http/body.js';
import { ReadQuery } from '../http/paging.js';
import {
  CodePoints,
  Flag,
  Integer,
  Nested,
  OneOf,
  Opaque,
  Optional,
  Scalars,
  Slug,
  Timestamp,
  Uuid,
} from '../http/validation/fields.js';
import { defaultByteBudget } from '../ranking/evidence/cut.js';

/** Evidence of which a caller may say that it has it already, and relationships. */
const mostKnown = 200;
const mostFilterValues = 50;

export class EvidenceFiltersRequest {
  @Optional()
  @CodePoints(1, 500, { description: 'Source keys, any of them.', list: { max: mostFilterValues } })
  sources?: string[];

  @Optional()
  @OneOf(sourceTypes, { description: 'Any of them.', list: { max: sourceTypes.length } })
  source_types?: SourceType[];

  @Optional()
  @CodePoints(1, 256, { description: 'Any of them.', list: { max: mostFilterValues } })
  groups?: string[];

  @Optional()
  @CodePoints(1, 64, { description: 'All of them.', list: { max: 32 } })
  labels?: string[];

  @Optional()
  @CodePoints(1, 128, { description: 'All of them.', list: { max: 8 } })
  subjects?: string[];

  @Optional()
  @Scalars({ entries: 16, name: 64, text: 2_000 }, { description: 'Each name has this value.' })
  metadata?: Record<string, Scalar>;

  @Optional()
  @OneOf(authorities, { description: 'Any of them.', list: { max: authorities.length } })
  authorities?: Authority[];

  @Optional()
  @Uuid({ description: 'Profiles that remembered it, any of them.', list: { max: mostFilterValues } })
  owners?: string[];

  @Optional()
  @CodePoints(1, 200, { description: 'Names of who said it, any of them.', list: { max: mostFilterValues } })
  authors?: string[];

  @Optional()
  @Timestamp({ description: 'Said or written at this time or later.' })
  occurred_from?: string;

  @Optional()
  @Timestamp({ description: 'Said or written before this time.' })
  occurred_to?: string;
}

export class RecallRequest {
  @CodePoints(1, 4_000, { example: 'How long does a refund take?' })
  question!: string;

  @Optional()
  @Slug({ description: 'Parts of the team’s memory to search; the scope default when left out.', list: { min: 1, max: 20 } })
  scopes: string[] = ['default'];

  @Optional()
  @Nested(() => EvidenceFiltersRequest, { description: 'What the results must be.' })
  filters?: EvidenceFiltersRequest;

  @Optional()
  @Integer(1, 50, { description: 'Most results.' })
  limit: number = 10;

  @Optional()
  @Integer(1, 1_048_576, { description: 'Most bytes of all contexts together, UTF-8.' })
  byte_budget: number = defaultByteBudget;

  @Optional()
  @Uuid({ description: 'What you have already: left out, and takes no place.', list: { max: mostKnown } })
  known_evidence_ids: string[] = [];

  @Optional()
  @Uuid({ description: 'Relationships you have already.', list: { max: mostKnown } })
  known_relationship_ids: string[] = [];

  @Optional()
  @Timestamp({ description: 'What holds in the world at this time; now, or the time of known_at, when left out.' })
  valid_at?: string;

  @KnownAt()
  known_at?: string;

  @AtPosition()
  at_position?: string;

  @Optional()
  @OneOf(['scores'], { description: 'scores adds the numbers of the score contract to each result.', list: { max: 1 } })
  include: string[] = [];

  @Optional()
  @Flag({ description: 'Adds how the ranking came about.' })
  explain: boolean = false;

  @Optional()
  @CodePoints(1, 63, { description: 'Ranking profile of this recall only; needs the scope evaluate.' })
  profile?: string;

  @Optional()
  @Integer(1, 3, { description: '1: contexts. 2: with their neighbours in the group. 3: with evidence of discovery paths.' })
  depth: number = 1;

  @Optional()
  @Integer(1, 262_144, { description: 'Most tokens of all contexts, four bytes each.' })
  max_tokens?: number;

  @Optional()
  @CodePoints(0, bodyLimit, { description: 'skip, no_reorder, full or context.' })
  answer_check?: string;

  @Optional()
  @Opaque({ description: 'Wait until this position is in the read models.' })
  min_position?: string;
}

/** What a recall takes in its query as well as in its body. */
export class RecallQuery extends ReadQuery {
  @KnownAt()
  known_at?: string;

  @AtPosition()
  at_position?: string;

  @Optional()
  @CodePoints(0, bodyLimit)
  answer_check?: string;
}
