import type { Gate } from '../../src/ranking/evidence/evidence-reads.js';
import { eligible, eligibleAt } from '../evidence/eligibility.js';

/** What a recall may return, beside its question. */
export interface EvidenceFilters {
  /** 1 to 20. */
  readonly scopes: readonly string[];
  /** Each list: any one of them; empty or undefined: no demand. */
  readonly sources?: readonly string[] | undefined;
  readonly sourceTypes?: readonly string[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly authorities?: readonly string[] | undefined;
  readonly authors?: readonly string[] | undefined;
  readonly owners?: readonly string[] | undefined;
  /** Every one of them. */
  readonly labels?: readonly string[] | undefined;
  readonly subjects?: readonly string[] | undefined;
  /** Each must have this value. */
  readonly metadata?: Readonly<Record<string, string | number | boolean | null>> | undefined;
  /** Half-open, of `occurred_at`. */
  readonly occurredFrom?: Date | undefined;
  readonly occurredTo?: Date | undefined;
}

export interface EvidenceBounds {
  readonly team: string;
  readonly validAt: Date;
  /** Recall as the log stood at this position; undefined for now. */
  readonly position: bigint | undefined;
  readonly filters: EvidenceFilters;
}

/** A statement with its values, put together piece by piece. */
export class Statement {
  readonly values: unknown[] = [];

  /** The placeholder of a value. */
  of = (value: unknown): string => `$${this.values.push(value)}`;
}

/**
 * Condition on `mneme_read.evidence e` that every branch puts into its statement: of the team, eligible at the moments asked
 * for, in the scopes and through the filters of the request, and through the gate.
 */
export function admitted(
  statement: Statement,
  { team, validAt, position, filters }: EvidenceBounds,
  gate: Gate = { anchors: [] },
): string {
  const { of } = statement;
  const at = { evidence: 'e', validAt: `${of(validAt)}::timestamptz` };
  return [
    `e.team_id = ${of(team)}`,
    position === undefined ? eligible(at) : `e.position <= ${of(position)} AND ${eligibleAt({ ...at, position: of(position) })}`,
    ...filtered(of, filters),
    ...gated(of, gate),
  ].join(' AND ');
}

type Of = Statement['of'];

function filtered(of: Of, filters: EvidenceFilters): string[] {
  const any = (column: string, type: string, wanted: readonly string[] | undefined) =>
    wanted === undefined || wanted.length === 0 ? [] : [`e.${column} = ANY(${of(wanted)}::${type}[])`];
  return [
    ...any('scope', 'text', filters.scopes),
    ...any('source_key', 'text', filters.sources),
    ...any('source_type', 'text', filters.sourceTypes),
    ...any('group_name', 'text', filters.groups),
    ...any('authority', 'text', filters.authorities),
    ...any('author', 'text', filters.authors),
    ...any('profile_id', 'uuid', filters.owners),
    ...having(of, 'evidence_labels', 'label', filters.labels),
    ...having(of, 'evidence_subjects', 'subject', filters.subjects),
    ...Object.entries(filters.metadata ?? {}).map(([key, value]) => {
      // Extracted as text, and compared as text: the value's own type was checked when it was remembered.
      const found = `(e.metadata::jsonb ->> ${of(key)}::text)`;
      return value === null ? `e.metadata::jsonb -> ${of(key)}::text = 'null'::jsonb` : `${found} = ${of(String(value))}`;
    }),
    ...(filters.occurredFrom ? [`e.occurred_at >= ${of(filters.occurredFrom)}`] : []),
    ...(filters.occurredTo ? [`e.occurred_at < ${of(filters.occurredTo)}`] : []),
  ];
}

const having = (of: Of, table: string, column: string, wanted: readonly string[] | undefined): string[] =>
  (wanted ?? []).map(
    (value) => `EXISTS (
      SELECT FROM mneme_read.${table} h
      WHERE h.team_id = e.team_id AND h.evidence_id = e.evidence_id AND h.${column} = ${of(value)})`,
  );

function gated(of: Of, { anchors, authors = [], during = [] }: Gate): string[] {
  const from = during.map((interval) => new Date(interval.from).toISOString());
  const to = during.map((interval) => new Date(interval.to).toISOString());
  return [
    ...anchors.map(
      (anchor) => `EXISTS (
      SELECT FROM mneme_read.search_anchors a
      WHERE a.team_id = e.team_id AND a.evidence_id = e.evidence_id AND a.anchor = ${of(anchor)})`,
    ),
    ...(authors.length === 0 ? [] : [`e.author = ANY(${of(authors)}::text[])`]),
    ...(during.length === 0
      ? []
      : [
          `EXISTS (
      SELECT FROM unnest(${of(from)}::timestamptz[], ${of(to)}::timestamptz[]) AS asked(since, until)
      WHERE CASE WHEN e.valid_from IS NULL AND e.valid_to IS NULL
            THEN e.occurred_at >= asked.since AND e.occurred_at < asked.until
            ELSE coalesce(e.valid_from, '-infinity') < asked.until AND coalesce(e.valid_to, 'infinity') > asked.since END)`,
        ]),
  ];
}
