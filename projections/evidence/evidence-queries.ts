import type { Queries } from '../../src/database/database.js';
import { eligible, ofCurrentRevision, sourceNotErased } from './eligibility.js';
import type { EvidenceRow, SourceRevisionRow, SourceRow } from './evidence.tables.js';

/** What follows from other memories, and is never written into the evidence's own row. */
export interface DerivedStates {
  /** Whether its revision is the current one of its source; true without a source or a revision. */
  readonly revision_current: boolean;
  readonly source_erased: boolean;
  readonly owner_active: boolean;
  /** Whether recall may return it at the moment asked for. */
  readonly eligible: boolean;
}

export type EvidenceDetails = Omit<EvidenceRow, 'team_id' | 'quarantined_from'> & DerivedStates;

const columns = `e.evidence_id, e.scope, e.profile_id, e.content, e.author, e.source_id, e.source_key, e.source_revision, e.group_name,
       e.sequence, e.source_type, e.authority, e.subjects, e.labels, e.metadata, e.external_ids, e.occurred_at, e.valid_from,
       e.valid_to, e.status, e.replacement_id, e.recorded_at, e.position, e.revision`;

const details = (validAt: string) => `
  SELECT ${columns},
         ${ofCurrentRevision('e')} AS revision_current,
         NOT ${sourceNotErased('e')} AS source_erased,
         EXISTS (
           SELECT FROM mneme_read.profiles p
           WHERE p.team_id = e.team_id AND p.profile_id = e.profile_id AND p.status = 'active') AS owner_active,
         ${eligible({ evidence: 'e', validAt })} AS eligible
  FROM mneme_read.evidence e`;

export async function getEvidence(
  queries: Queries,
  { team, evidence, validAt }: { team: string; evidence: string; validAt: Date },
): Promise<EvidenceDetails | undefined> {
  const [row] = await queries.query<EvidenceDetails>(`${details('$3')} WHERE e.team_id = $1 AND e.evidence_id = $2`, [
    team,
    evidence,
    validAt,
  ]);
  return row;
}

export interface EvidenceFilter {
  readonly team: string;
  readonly scope: string | undefined;
  readonly status: string | undefined;
  readonly profile: string | undefined;
  readonly author: string | undefined;
  readonly source: string | undefined;
  readonly sourceRevision: string | undefined;
  readonly group: string | undefined;
  readonly sourceType: string | undefined;
  readonly authority: string | undefined;
  readonly label: string | undefined;
  readonly subject: string | undefined;
  readonly externalId: string | undefined;
  /** Only what recall may return at `validAt`, or only what it may not; undefined for both. */
  readonly eligible: boolean | undefined;
  readonly validAt: Date;
  /** Only what was remembered before this position: where the page before ended. */
  readonly before: bigint | undefined;
  readonly limit: number;
}

/** The latest first. Only the filters that were given stand in the statement, so that each can use its index. */
export function listEvidence(queries: Queries, filter: EvidenceFilter): Promise<EvidenceDetails[]> {
  const { team, validAt, limit } = filter;
  const values: unknown[] = [team, validAt, limit];
  const parameter = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    'e.team_id = $1',
    ...equalities(filter).flatMap(([column, value]) => (value === undefined ? [] : [`e.${column} = ${parameter(value)}`])),
    ...handles(filter).flatMap(([from, column, value]) =>
      value === undefined
        ? []
        : [
            `EXISTS (SELECT FROM mneme_read.${from} h WHERE h.team_id = $1 AND h.evidence_id = e.evidence_id AND h.${column} = ${parameter(value)})`,
          ],
    ),
    ...(filter.before === undefined ? [] : [`e.position < ${parameter(filter.before)}`]),
    ...eligibility(filter),
  ];
  return queries.query<EvidenceDetails>(
    `${details('$2')} WHERE ${conditions.join(' AND ')} ORDER BY e.position DESC LIMIT $3`,
    values,
  );
}

/**
 * Asked row by row (`IS`), as the page is read from its index. As joins, which the planner makes of a bare condition, it read
 * the whole table and sorted it: it keeps no statistics of texts, and took nearly every row for not current.
 */
const eligibility = ({ eligible: wanted }: EvidenceFilter): string[] =>
  wanted === undefined ? [] : [`${eligible({ evidence: 'e', validAt: '$2' })} IS ${wanted ? 'TRUE' : 'FALSE'}`];

const equalities = (filter: EvidenceFilter): [column: keyof EvidenceRow, value: unknown][] => [
  ['scope', filter.scope],
  ['status', filter.status],
  ['profile_id', filter.profile],
  ['author', filter.author],
  ['source_id', filter.source],
  ['source_revision', filter.sourceRevision],
  ['group_name', filter.group],
  ['source_type', filter.sourceType],
  ['authority', filter.authority],
];

const handles = (filter: EvidenceFilter): [table: string, column: string, value: unknown][] => [
  ['evidence_labels', 'label', filter.label],
  ['evidence_subjects', 'subject', filter.subject],
  ['evidence_aliases', 'external_id', filter.externalId],
];

export type SourceDetails = Omit<SourceRow, 'team_id'>;
export type PublishedRevisionRow = Omit<SourceRevisionRow, 'team_id' | 'source_id'>;

const sourceColumns =
  's.source_id, s.source_key, s.current_revision, s.number, s.profile_id, s.published_at, s.position, s.revision';

export async function getSource(
  queries: Queries,
  { team, source }: { team: string; source: string },
): Promise<SourceDetails | undefined> {
  const [row] = await queries.query<SourceDetails>(
    `SELECT ${sourceColumns} FROM mneme_read.sources s WHERE s.team_id = $1 AND s.source_id = $2`,
    [team, source],
  );
  return row;
}

/** The latest publications of a source, the latest first. */
export function latestRevisions(
  queries: Queries,
  { team, source, limit }: { team: string; source: string; limit: number },
): Promise<PublishedRevisionRow[]> {
  return queries.query<PublishedRevisionRow>(
    `SELECT r.number, r.source_revision, r.profile_id, r.published_at, r.position FROM mneme_read.source_revisions r
     WHERE r.team_id = $1 AND r.source_id = $2 ORDER BY r.number DESC LIMIT $3`,
    [team, source, limit],
  );
}

export interface SourceFilter {
  readonly team: string;
  readonly key: string | undefined;
  /** Only those published first before this position: where the page before ended. */
  readonly before: bigint | undefined;
  readonly limit: number;
}

/** Those published first last, first. */
export function listSources(queries: Queries, { team, key, before, limit }: SourceFilter): Promise<SourceDetails[]> {
  return queries.query<SourceDetails>(
    `SELECT ${sourceColumns} FROM mneme_read.sources s
     WHERE s.team_id = $1 AND ($2::text IS NULL OR s.source_key = $2) AND ($3::int8 IS NULL OR s.position < $3)
     ORDER BY s.position DESC LIMIT $4`,
    [team, key ?? null, before ?? null, limit],
  );
}
