import { isRedacted, type RecordedEvent } from '../../src/event-log/domain-event.js';
import { type EvidenceEvent, evolveLifecycle, type Lifecycle, type LivingStatus } from '../../src/evidence/evidence.js';
import type { SourceEvent } from '../../src/evidence/source.js';
import { type Change, erase, lookup, projection, put, type Rows } from '../engine/projection.js';
import {
  aliases,
  erasedSources,
  evidence,
  type EvidenceRow,
  labels,
  sourceRevisions,
  sources,
  subjects,
} from './evidence.tables.js';

type Event = EvidenceEvent | SourceEvent;
type Remembered = Extract<EvidenceEvent, { type: 'EvidenceRemembered' }>;
type Published = Extract<SourceEvent, { type: 'SourceRevisionPublished' }>;

/**
 * Evidence with its status, and the sources with their published revisions. Whether evidence is eligible follows from both
 * and from its owner, by joins (see eligibility.ts): publishing a revision writes two rows, however much evidence it outdates.
 */
export const evidenceProjection = projection<Event>({
  name: 'evidence',
  version: 1,
  eventTypes: [
    'EvidenceRemembered',
    'EvidenceAliased',
    'EvidenceQuarantined',
    'EvidenceReleased',
    'EvidenceSupersessionAnnounced',
    'EvidenceSupersessionWithdrawn',
    'EvidenceSuperseded',
    'EvidenceRetracted',
    'EvidenceErased',
    'SourceRevisionPublished',
    'SourceErased',
  ],
  needsContent: true,
  tables: [evidence, aliases, subjects, labels, sources, sourceRevisions, erasedSources],

  load: (events) =>
    events.map(({ team: team_id, data }) =>
      isOfSource(data)
        ? lookup(sources, { team_id, source_id: data.source_id })
        : lookup(evidence, { team_id, evidence_id: data.evidence_id }),
    ),

  changes: (event, rows) =>
    isOfSource(event.data) ? sourceChanges(event, event.data, rows) : evidenceChanges(event, event.data, rows),
});

const isOfSource = (event: Event): event is SourceEvent => 'source_id' in event && !('evidence_id' in event);

function evidenceChanges(event: RecordedEvent<Event>, data: EvidenceEvent, rows: Rows): Change[] {
  const key = { team_id: event.team, evidence_id: data.evidence_id };
  if (data.type === 'EvidenceErased')
    return [erase(evidence, key), erase(aliases, key), erase(subjects, key), erase(labels, key)];

  const row = rows.get(evidence, key);
  if (row && row.revision >= event.revision) return [];
  if (data.type === 'EvidenceRemembered') return remembered(event, data);
  // Its content is gone already: the erasing event is further on in the log.
  if (!row) return [];
  const { revision, position } = event;
  const changed = { ...row, ...columnsOf(evolveLifecycle(lifecycleOf(row), data)), revision };
  if (data.type !== 'EvidenceAliased' || isRedacted(data.sealed)) return [put(evidence, changed)];
  const { external_id } = data.sealed;
  const external_ids = JSON.stringify([...(JSON.parse(row.external_ids) as string[]), external_id]);
  return [put(evidence, { ...changed, external_ids }), put(aliases, { ...key, external_id, position })];
}

function remembered(event: RecordedEvent<Event>, data: Remembered): Change[] {
  // The key is gone, so the erasing event is further on in the log: the evidence is absent at every moment.
  if (isRedacted(data.sealed)) return [];
  const { group: group_name, subjects: people, labels: words, metadata, external_id, ...texts } = data.sealed;
  const { source_id, sequence, source_type, authority, occurred_at, valid_from, valid_to } = data;
  const { position, revision } = event;
  const key = { team_id: event.team, evidence_id: data.evidence_id };
  const external_ids = external_id === null ? [] : [external_id];
  const row: EvidenceRow = {
    ...key,
    ...texts,
    profile_id: event.metadata.profile ?? null,
    source_id,
    group_name,
    sequence,
    source_type,
    authority,
    subjects: JSON.stringify(people),
    labels: JSON.stringify(words),
    metadata: JSON.stringify(metadata),
    external_ids: JSON.stringify(external_ids),
    occurred_at: timeOf(occurred_at),
    valid_from: timeOf(valid_from),
    valid_to: timeOf(valid_to),
    ...columnsOf({ status: 'current' }),
    recorded_at: event.recordedAt,
    position,
    revision,
  };
  return [
    put(evidence, row),
    ...external_ids.map((handle) => put(aliases, { ...key, external_id: handle, position })),
    ...people.map((subject) => put(subjects, { ...key, subject })),
    ...words.map((label) => put(labels, { ...key, label })),
  ];
}

const timeOf = (text: string | null): Date | null => (text === null ? null : new Date(text));

type LifecycleColumns = Pick<EvidenceRow, 'status' | 'quarantined_from' | 'replacement_id'>;

const columnsOf = (lifecycle: Lifecycle): LifecycleColumns => ({
  status: lifecycle.status,
  quarantined_from: lifecycle.status === 'quarantined' ? lifecycle.from : null,
  replacement_id: lifecycle.status === 'superseded' ? lifecycle.replacement_id : null,
});

function lifecycleOf({ status, quarantined_from, replacement_id }: LifecycleColumns): Lifecycle {
  if (quarantined_from !== null) return { status: 'quarantined', from: quarantined_from as LivingStatus };
  if (replacement_id !== null) return { status: 'superseded', replacement_id };
  return { status: status as LivingStatus | 'retracted' };
}

function sourceChanges(event: RecordedEvent<Event>, data: SourceEvent, rows: Rows): Change[] {
  const key = { team_id: event.team, source_id: data.source_id };
  switch (data.type) {
    case 'SourceRevisionPublished':
      return published(event, data, rows);
    case 'SourceErased':
      return [erase(sources, key), erase(sourceRevisions, key), put(erasedSources, key)];
    default:
      return data satisfies never;
  }
}

function published(event: RecordedEvent<Event>, data: Published, rows: Rows): Change[] {
  const { number, source_id, sealed } = data;
  const key = { team_id: event.team, source_id };
  const row = rows.get(sources, key);
  if (isRedacted(sealed) || (row && row.revision >= event.revision)) return [];
  const { key: source_key, revision: current_revision } = sealed;
  const profile_id = event.metadata.profile ?? null;
  const { position, revision, recordedAt: published_at } = event;
  const first = row ? { profile_id: row.profile_id, position: row.position } : { profile_id, position };
  return [
    put(sources, { ...key, source_key, current_revision, number, ...first, published_at, revision }),
    put(sourceRevisions, { ...key, number, source_revision: current_revision, profile_id, published_at, position }),
  ];
}
