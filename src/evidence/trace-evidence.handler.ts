import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { isRedacted, type RecordedEvent } from '../event-log/domain-event.js';
import { CommandRefused } from '../event-log/execute.js';
import type { AsOf } from '../trace/as-of.js';
import { type History, knownThen, MemoryHistory } from '../trace/memory-history.js';
import { page, type Trace, tracedEvent } from '../trace/trace.js';
import { type EvidenceContent, type EvidenceEvent, type EvidenceFacts, evidenceOf, type EvidenceStatus } from './evidence.js';
import { isSourceErased, type SourceEvent } from './source.js';
import { type SourceState, sourceState } from './source-state.js';

export interface TraceRequest {
  readonly team: string;
  readonly id: string;
  /** Whether the reader may see what people wrote. */
  readonly content: boolean;
  readonly after: bigint;
  readonly maxEvents: number;
  /** The moment it is of; undefined for now. */
  readonly asOf: AsOf | undefined;
}

export interface EvidenceState {
  readonly status: EvidenceStatus;
  /** Who remembered it: its owner. */
  readonly profile_id: string | null;
  readonly facts: EvidenceFacts | null;
  readonly content: EvidenceContent | null;
  readonly external_ids: readonly string[];
  /** What a release leads back to; null unless quarantined. */
  readonly quarantined_from: string | null;
  readonly replacement_id: string | null;
  /** What it replaced, and what replaced it, and that in turn, up to four steps. */
  readonly supersedes: readonly string[];
  readonly superseded_by: readonly string[];
  /** Null without a source. */
  readonly source: SourceState | null;
  /** Whether its revision was the current one of its source; null where the reader may not see revisions. */
  readonly revision_current: boolean | null;
}

export class TraceEvidence extends Query<Trace<EvidenceState>> {
  constructor(readonly request: TraceRequest) {
    super();
  }
}

export class TraceSource extends Query<Trace<SourceState>> {
  constructor(readonly request: TraceRequest) {
    super();
  }
}

const longestLineage = 4;

/** Evidence's own events, and those that made it the replacement of other evidence; its source and its lineage in the state. */
@QueryHandler(TraceEvidence)
export class TraceEvidenceHandler implements IQueryHandler<TraceEvidence> {
  constructor(private readonly histories: MemoryHistory) {}

  async execute({ request }: TraceEvidence): Promise<Trace<EvidenceState>> {
    const { team, id, content } = request;
    const history = await this.histories.read<EvidenceEvent>(team, id, { content });
    const known = history && knownThen(history, request.asOf);
    const own = known?.events.filter(({ kind, streamId }) => kind === 'evidence' && streamId === id) ?? [];
    if (!history || !known || own.length === 0) throw new CommandRefused('not_found');
    const replacing = known.events.filter(({ data }) => data.type === 'EvidenceSuperseded' && data.replacement_id === id);
    const events = [...own, ...replacing].sort((a, b) => (a.position < b.position ? -1 : 1));
    const { shown, next } = page(events, { after: request.after, most: request.maxEvents });
    const supersedes = replacing.map(({ streamId }) => streamId);
    // Erasure holds at every moment, also at those before it.
    const erased = history.events.some(({ data, streamId }) => data.type === 'EvidenceErased' && streamId === id);
    const state = erased ? erasedState(own, supersedes) : await this.stateAfter(request, own, supersedes);
    return { kind: 'evidence', id, state, events: shown.map(tracedEvent), next, completeTo: known.completeTo };
  }

  private async stateAfter(
    request: TraceRequest,
    own: readonly RecordedEvent<EvidenceEvent>[],
    supersedes: readonly string[],
  ): Promise<EvidenceState> {
    const evidence = evidenceOf(own);
    if (evidence.status === 'none' || evidence.status === 'erased') return erasedState(own, supersedes);
    const { facts, external_ids, status } = evidence;
    // Left out, not redacted, where the reader may not see content: the boxes were never opened.
    const sealed = evidence.content as typeof evidence.content | undefined;
    const content = sealed && !isRedacted(sealed) ? sealed : null;
    const source = facts.source_id === null ? null : await this.source(request, facts.source_id);
    return {
      status,
      profile_id: own[0]?.metadata.profile ?? null,
      facts,
      content,
      external_ids,
      quarantined_from: status === 'quarantined' ? evidence.from : null,
      replacement_id: status === 'superseded' ? evidence.replacement_id : null,
      supersedes,
      superseded_by: status === 'superseded' ? await this.successors(request, evidence.replacement_id) : [],
      source,
      revision_current: content && isRevisionCurrent(content.source_revision, source),
    };
  }

  private async source({ team, content, asOf }: TraceRequest, source_id: string): Promise<SourceState> {
    const history = await this.histories.read<SourceEvent>(team, source_id, { content });
    return sourceStateOf(source_id, history, asOf);
  }

  /** Each reads one stream; two that replaced each other at the same moment end the walk. */
  private async successors({ team, id, asOf }: TraceRequest, first: string): Promise<string[]> {
    const line: string[] = [];
    for (let next: string | undefined = first; next !== undefined && line.length < longestLineage;) {
      const current: string = next;
      line.push(current);
      const history = await this.histories.read<EvidenceEvent>(team, current, { content: false });
      const events = history ? knownThen(history, asOf).events.filter(({ streamId }) => streamId === current) : [];
      const evidence = evidenceOf(events);
      next = evidence.status === 'superseded' ? evidence.replacement_id : undefined;
      if (next === id || (next !== undefined && line.includes(next))) break;
    }
    return line;
  }
}

/** True without a source or a revision, and for a source with none published: then every revision is current. */
const isRevisionCurrent = (revision: string | null, source: SourceState | null): boolean =>
  revision === null || source?.status !== 'published' || source.current_revision === revision;

const erasedState = (own: readonly RecordedEvent<EvidenceEvent>[], supersedes: readonly string[]): EvidenceState => ({
  status: 'erased',
  profile_id: own[0]?.metadata.profile ?? null,
  facts: null,
  content: null,
  external_ids: [],
  quarantined_from: null,
  replacement_id: null,
  supersedes,
  superseded_by: [],
  source: null,
  revision_current: null,
});

/** A source's publications. */
@QueryHandler(TraceSource)
export class TraceSourceHandler implements IQueryHandler<TraceSource> {
  constructor(private readonly histories: MemoryHistory) {}

  async execute({ request }: TraceSource): Promise<Trace<SourceState>> {
    const { team, id, content, asOf } = request;
    const history = await this.histories.read<SourceEvent>(team, id, { content });
    const known = history && knownThen(history, asOf);
    if (!known || known.events[0]?.kind !== 'source') throw new CommandRefused('not_found');
    const { shown, next } = page(known.events, { after: request.after, most: request.maxEvents });
    const state = sourceStateOf(id, history, asOf);
    return { kind: 'source', id, state, events: shown.map(tracedEvent), next, completeTo: known.completeTo };
  }
}

function sourceStateOf(source_id: string, history: History<SourceEvent> | undefined, asOf: AsOf | undefined): SourceState {
  const erased = isSourceErased(history?.events ?? []);
  return sourceState(source_id, history ? knownThen(history, asOf).events : [], erased);
}
