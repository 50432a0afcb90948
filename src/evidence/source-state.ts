import { isRedacted, type RecordedEvent } from '../event-log/domain-event.js';
import { type Source, type SourceEvent, sourceOf } from './source.js';

export interface Publication {
  readonly number: number;
  /** Null where the reader may not see it. */
  readonly revision: string | null;
  readonly profile_id: string | null;
  readonly published_at: Date;
}

/** A source as its events tell, with its latest publications. */
export interface SourceState {
  readonly source_id: string;
  readonly status: Source['status'];
  readonly key: string | null;
  readonly current_revision: string | null;
  /** Of the current revision among the published; 0 when none was. */
  readonly number: number;
  readonly revisions: readonly Publication[];
  /** Whether earlier publications were left out. */
  readonly revisions_truncated: boolean;
}

const mostRevisions = 100;

/** @param erased also when the erasing event comes later than these: erasure holds at every moment */
export function sourceState(source_id: string, events: readonly RecordedEvent<SourceEvent>[], erased: boolean): SourceState {
  const source = sourceOf(events);
  if (erased || source.status !== 'published') {
    const status = erased ? 'erased' : source.status;
    return { source_id, status, key: null, current_revision: null, number: 0, revisions: [], revisions_truncated: false };
  }
  const revisions = events.flatMap((event) => publication(event));
  return {
    source_id,
    status: 'published',
    key: source.latest?.key ?? null,
    current_revision: source.latest?.revision ?? null,
    number: source.number,
    revisions: revisions.slice(-mostRevisions),
    revisions_truncated: revisions.length > mostRevisions,
  };
}

function publication({ data, metadata, recordedAt }: RecordedEvent<SourceEvent>): Publication[] {
  if (data.type !== 'SourceRevisionPublished') return [];
  const sealed = data.sealed as typeof data.sealed | undefined;
  const revision = sealed && !isRedacted(sealed) ? sealed.revision : null;
  return [{ number: data.number, revision, profile_id: metadata.profile ?? null, published_at: recordedAt }];
}
