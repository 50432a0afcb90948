import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import {
  type EvidenceContext,
  hydrateEvidence,
  PostgresEvidenceReads,
  searchLanguage,
} from '../../projections/evidence-search/evidence-reads.js';
import type { EvidenceBounds, EvidenceFilters } from '../../projections/evidence-search/evidence-scope.js';
import { defaultSettings } from '../access/settings.js';
import { Clock } from '../config/clock.js';
import { Configuration } from '../config/configuration.js';
import { Database, type Queries } from '../database/database.js';
import { embedOne } from '../embedding/embedding-check.js';
import { EmbeddingGenerator } from '../embedding/embedding-generator.js';
import { isDependencyUnavailable } from '../embedding/errors.js';
import { Metrics } from '../metrics/metrics.js';
import { type CutReason, cut, type Selected } from '../ranking/evidence/cut.js';
import type { QueryVector } from '../ranking/evidence/evidence-reads.js';
import { type EvidenceRanking, type RankedEvidence, rankEvidence } from '../ranking/evidence/rank-evidence.js';
import { degrade, type DegradedBranch } from '../ranking/profiles/degradation.js';
import type { EvidenceProfile } from '../ranking/profiles/evidence-profile.js';
import type { AsOf } from '../trace/as-of.js';
import { firstBytes } from './first-bytes.js';

export interface RecallInput {
  readonly question: string;
  readonly filters: EvidenceFilters;
  readonly profile: EvidenceProfile;
  /** 1 to 50. */
  readonly limit: number;
  readonly byteBudget: number;
  readonly known: readonly string[];
  readonly validAt: Date | undefined;
  /** From 2 on, results come with their neighbours. */
  readonly depth: 1 | 2 | 3;
}

export interface Neighbour {
  readonly evidence_id: string;
  readonly context: string;
}

export interface RecalledEvidence {
  readonly evidence_id: string;
  /** Cut to the byte budget when it alone exceeds it. */
  readonly context: string;
  readonly ranked: RankedEvidence;
  readonly neighbours: readonly Neighbour[];
}

export interface RecalledContexts {
  readonly results: readonly RecalledEvidence[];
  readonly ranking: EvidenceRanking;
  readonly dropped: readonly { readonly id: string; readonly reason: CutReason }[];
  readonly degraded: readonly DegradedBranch[];
  /** UTF-8 of everything shown. */
  readonly bytes: number;
  /** Results and neighbours left out for the budget. */
  readonly leftOut: number;
  /** A context was cut. */
  readonly trimmed: boolean;
}

export class RecallEvidence extends Query<RecalledContexts> {
  constructor(
    readonly team: string,
    readonly input: RecallInput,
    readonly signal: AbortSignal,
    /** The moment of the log to recall as of; undefined for now. */
    readonly asOf?: AsOf,
  ) {
    super();
  }
}

/** The evidence that helps most with a question. Everything is read in one snapshot: the answer is of one position. */
@QueryHandler(RecallEvidence)
export class RecallEvidenceHandler implements IQueryHandler<RecallEvidence> {
  constructor(
    private readonly database: Database,
    private readonly embedder: EmbeddingGenerator,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
    private readonly metrics: Metrics,
  ) {}

  /** @throws BranchFailed, DependencyUnavailable for what the profile requires; DatabaseUnavailable */
  async execute({ team, input, signal, asOf }: RecallEvidence): Promise<RecalledContexts> {
    const { vector, degraded } = await this.vectorOf(input, signal);
    const now = asOf?.time ?? this.clock.now();
    const bounds: EvidenceBounds = {
      team,
      validAt: input.validAt ?? now,
      position: asOf?.position,
      filters: input.filters,
    };
    const recalled = await this.database.asTeam(team, (queries) => recall(queries, bounds, input, { vector, now }), {
      snapshot: true,
    });
    const all = [...degraded, ...recalled.degraded];
    for (const { branch } of all) this.metrics.recallDegraded.inc({ recall: 'evidence', branch });
    this.metrics.recallCandidates.observe({ recall: 'evidence' }, recalled.ranking.ranked.length);
    this.metrics.recallReturned.observe({ recall: 'evidence' }, recalled.results.length);
    return { ...recalled, degraded: all };
  }

  private async vectorOf(
    { profile, question }: RecallInput,
    signal: AbortSignal,
  ): Promise<{ vector: QueryVector | undefined; degraded: readonly DegradedBranch[] }> {
    const use = profile.branches.vector;
    if (use === 'off') return { vector: undefined, degraded: [] };
    const { timeoutMs } = this.configuration.embedding;
    try {
      const values = await embedOne(this.embedder, question, { timeoutMs, signal });
      return { vector: { contract: this.embedder.contract.id, values }, degraded: [] };
    } catch (error) {
      if (!isDependencyUnavailable(error) || use === 'required') throw error;
      const degraded = degrade(profile, 'vector', error);
      return { vector: undefined, degraded: degraded ? [degraded] : [] };
    }
  }
}

interface Asked {
  readonly vector: QueryVector | undefined;
  readonly now: Date;
}

async function recall(
  queries: Queries,
  bounds: EvidenceBounds,
  input: RecallInput,
  { vector, now }: Asked,
): Promise<RecalledContexts> {
  const language = (await searchLanguage(queries, bounds.team)) ?? defaultSettings.language;
  const reads = new PostgresEvidenceReads(queries, bounds);
  const { question, limit, known } = input;
  const ranking = await rankEvidence(reads, { question, language, now, vector, limit, knownCount: known.length }, input.profile);
  const { selected, dropped, contexts } = await select(queries, bounds, input, ranking.ranked);
  const byId = new Map(ranking.ranked.map((ranked) => [ranked.id, ranked]));
  const shown = selected.flatMap(({ id, bytes }) => {
    const [ranked, content] = [byId.get(id), contexts.get(id)?.content];
    return ranked && content !== undefined ? [{ ranked, evidence_id: id, context: firstBytes(content, bytes) }] : [];
  });
  const bytes = selected.reduce((sum, one) => sum + one.bytes, 0);
  const around =
    input.depth === 1
      ? nothingAround
      : await neighboursOf(queries, bounds, reads, { ids: selected.map(({ id }) => id), left: input.byteBudget - bytes, known });
  return {
    results: shown.map((result) => ({ ...result, neighbours: around.of.get(result.evidence_id) ?? [] })),
    ranking,
    dropped,
    degraded: ranking.degraded,
    bytes: bytes + around.bytes,
    leftOut: dropped.filter(({ reason }) => reason === 'byte_budget').length + around.leftOut,
    trimmed: selected.some(({ id, bytes: kept }) => kept < (byId.get(id)?.contextBytes ?? 0)),
  };
}

interface Selection {
  readonly selected: readonly Selected[];
  readonly dropped: RecalledContexts['dropped'];
  readonly contexts: ReadonlyMap<string, EvidenceContext>;
}

/** Cuts the ranking and reads what is left; what is not there any more makes room for the next. */
async function select(
  queries: Queries,
  bounds: EvidenceBounds,
  { limit, byteBudget, known }: RecallInput,
  ranked: readonly RankedEvidence[],
): Promise<Selection> {
  const contexts = new Map<string, EvidenceContext>();
  const vanished = new Set<string>();
  for (;;) {
    const { selected, dropped } = cut(ranked, { limit, byteBudget, known: new Set(known), vanished });
    const missing = selected.map(({ id }) => id).filter((id) => !contexts.has(id));
    if (missing.length === 0) return { selected, dropped, contexts };
    const rows = await hydrateEvidence(queries, bounds, missing);
    // Once more, after row-level security and the statement's own predicate: what is of another team never leaves here.
    for (const row of rows) if (row.team_id === bounds.team) contexts.set(row.evidence_id, row);
    for (const id of missing) if (!contexts.has(id)) vanished.add(id);
  }
}

interface Around {
  readonly of: ReadonlyMap<string, readonly Neighbour[]>;
  readonly bytes: number;
  readonly leftOut: number;
}

const nothingAround: Around = { of: new Map(), bytes: 0, leftOut: 0 };

/** What stands right before and behind each result, as far as the budget goes; each once, and no result a second time. */
async function neighboursOf(
  queries: Queries,
  bounds: EvidenceBounds,
  reads: PostgresEvidenceReads,
  { ids, left, known }: { ids: readonly string[]; left: number; known: readonly string[] },
): Promise<Around> {
  const taken = new Set([...ids, ...known]);
  const found = (await reads.neighbours(ids, 1, { anchors: [] })).filter(({ id }) => !taken.has(id));
  const rows = await hydrateEvidence(queries, bounds, [...new Set(found.map(({ id }) => id))]);
  const contents = new Map(rows.filter(({ team_id }) => team_id === bounds.team).map((row) => [row.evidence_id, row.content]));
  const of = new Map<string, Neighbour[]>();
  let bytes = 0;
  let leftOut = 0;
  for (const result of ids) {
    for (const { id } of found.filter((neighbour) => neighbour.of === result)) {
      const content = contents.get(id);
      if (content === undefined || taken.has(id)) continue;
      taken.add(id);
      const size = Buffer.byteLength(content);
      if (bytes + size > left) {
        leftOut += 1;
        continue;
      }
      bytes += size;
      of.set(result, [...(of.get(result) ?? []), { evidence_id: id, context: content }]);
    }
  }
  return { of, bytes, leftOut };
}
