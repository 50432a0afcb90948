import { table } from '../engine/projection.js';

export type EvidenceRow = {
  team_id: string;
  evidence_id: string;
  scope: string;
  /** Who remembered it: its owner. */
  profile_id: string | null;
  content: string;
  author: string | null;
  source_id: string | null;
  source_key: string | null;
  source_revision: string | null;
  /** `group` is a word of SQL. */
  group_name: string | null;
  sequence: number | null;
  source_type: string;
  authority: string;
  /** JSON texts: lists of texts, an object of scalars. */
  subjects: string;
  labels: string;
  metadata: string;
  external_ids: string;
  occurred_at: Date | null;
  valid_from: Date | null;
  valid_to: Date | null;
  status: string;
  /** What a release leads back to; null unless quarantined. */
  quarantined_from: string | null;
  replacement_id: string | null;
  recorded_at: Date;
  /** Of the event that remembered it: the order of lists. */
  position: bigint;
  /** Of the stream's last event seen: the version that If-Match compares. */
  revision: bigint;
};

export const evidence = table<EvidenceRow>({
  name: 'evidence',
  columns: {
    team_id: 'uuid',
    evidence_id: 'uuid',
    scope: 'text',
    profile_id: 'uuid',
    content: 'text',
    author: 'text',
    source_id: 'uuid',
    source_key: 'text',
    source_revision: 'text',
    group_name: 'text',
    sequence: 'int4',
    source_type: 'text',
    authority: 'text',
    subjects: 'text',
    labels: 'text',
    metadata: 'text',
    external_ids: 'text',
    occurred_at: 'timestamptz',
    valid_from: 'timestamptz',
    valid_to: 'timestamptz',
    status: 'text',
    quarantined_from: 'text',
    replacement_id: 'uuid',
    recorded_at: 'timestamptz',
    position: 'int8',
    revision: 'int8',
  },
  nullable: [
    'profile_id',
    'author',
    'source_id',
    'source_key',
    'source_revision',
    'group_name',
    'sequence',
    'occurred_at',
    'valid_from',
    'valid_to',
    'quarantined_from',
    'replacement_id',
  ],
  key: ['team_id', 'evidence_id'],
  history: ['status', 'replacement_id'],
  indexes: [
    ['team_id', 'position'],
    ['team_id', 'scope', 'position'],
    ['team_id', 'source_id', 'position'],
    ['team_id', 'source_key'],
    ['team_id', 'group_name', 'sequence'],
    ['team_id', 'author'],
  ],
});

/** Handles of callers. Two pieces of evidence may share one, and one may have many. */
export type AliasRow = { team_id: string; external_id: string; evidence_id: string; position: bigint };
export const aliases = table<AliasRow>({
  name: 'evidence_aliases',
  columns: { team_id: 'uuid', external_id: 'text', evidence_id: 'uuid', position: 'int8' },
  key: ['team_id', 'external_id', 'evidence_id'],
  indexes: [['team_id', 'evidence_id']],
});

export type SubjectRow = { team_id: string; subject: string; evidence_id: string };
export const subjects = table<SubjectRow>({
  name: 'evidence_subjects',
  columns: { team_id: 'uuid', subject: 'text', evidence_id: 'uuid' },
  key: ['team_id', 'subject', 'evidence_id'],
  indexes: [['team_id', 'evidence_id']],
});

export type LabelRow = { team_id: string; label: string; evidence_id: string };
export const labels = table<LabelRow>({
  name: 'evidence_labels',
  columns: { team_id: 'uuid', label: 'text', evidence_id: 'uuid' },
  key: ['team_id', 'label', 'evidence_id'],
  indexes: [['team_id', 'evidence_id']],
});

/** A source with the revision published last, which is the current one. */
export type SourceRow = {
  team_id: string;
  source_id: string;
  source_key: string;
  current_revision: string;
  /** Of the current one among the published, from 1. */
  number: number;
  /** Who published first: its owner. */
  profile_id: string | null;
  published_at: Date;
  /** Of the first publication: the order of lists. */
  position: bigint;
  /** Of the stream's last event seen: the version that If-Match compares. */
  revision: bigint;
};
export const sources = table<SourceRow>({
  name: 'sources',
  columns: {
    team_id: 'uuid',
    source_id: 'uuid',
    source_key: 'text',
    current_revision: 'text',
    number: 'int4',
    profile_id: 'uuid',
    published_at: 'timestamptz',
    position: 'int8',
    revision: 'int8',
  },
  nullable: ['profile_id'],
  key: ['team_id', 'source_id'],
  indexes: [
    ['team_id', 'position'],
    ['team_id', 'source_key'],
  ],
});

/** Every publication: what was current at a position is the one with the highest number up to it. */
export type SourceRevisionRow = {
  team_id: string;
  source_id: string;
  number: number;
  source_revision: string;
  profile_id: string | null;
  published_at: Date;
  position: bigint;
};
export const sourceRevisions = table<SourceRevisionRow>({
  name: 'source_revisions',
  columns: {
    team_id: 'uuid',
    source_id: 'uuid',
    number: 'int4',
    source_revision: 'text',
    profile_id: 'uuid',
    published_at: 'timestamptz',
    position: 'int8',
  },
  nullable: ['profile_id'],
  key: ['team_id', 'source_id', 'number'],
});

/** Ids only: evidence of an erased source is never recalled again, at no moment. */
export type ErasedSourceRow = { team_id: string; source_id: string };
export const erasedSources = table<ErasedSourceRow>({
  name: 'erased_sources',
  columns: { team_id: 'uuid', source_id: 'uuid' },
  key: ['team_id', 'source_id'],
});
