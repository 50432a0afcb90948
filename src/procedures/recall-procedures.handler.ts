import { Optional } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { type CandidateRow, type CandidateSearch, findCandidates } from '../../projections/procedures/procedure-queries.js';
import { findCandidatesAsOf } from '../../projections/procedures/procedure-queries-as-of.js';
import { Clock } from '../config/clock.js';
import { Configuration } from '../config/configuration.js';
import { Database } from '../database/database.js';
import { embedOne } from '../embedding/embedding-check.js';
import { EmbeddingGenerator } from '../embedding/embedding-generator.js';
import { isDependencyUnavailable } from '../embedding/errors.js';
import { askIntent } from '../judging/ask.js';
import { IntentExtractor } from '../judging/intent-extractor.js';
import { Metrics } from '../metrics/metrics.js';
import { type Candidate, type JudgedCounters, type ProcedureMatch, rankProcedures } from '../ranking/procedure-score.js';
import type { AsOf } from '../trace/as-of.js';

export interface RecallInput {
  readonly scope: string;
  readonly question: string;
  readonly intent: string | undefined;
  /** 1 to 50. */
  readonly top: number;
  /** 0 to 1; the configured cut-off when left out. */
  readonly minSimilarity: number | undefined;
}

export interface RecalledProcedure extends ProcedureMatch {
  readonly row: CandidateRow;
}

export interface RecalledProcedures {
  readonly matches: readonly RecalledProcedure[];
  readonly candidateCount: number;
  readonly removedByCutOff: number;
}

export class RecallProcedures extends Query<RecalledProcedures> {
  constructor(
    readonly team: string,
    readonly input: RecallInput,
    readonly signal: AbortSignal,
    /** The moment to rank as of; undefined for now. */
    readonly asOf?: AsOf,
  ) {
    super();
  }
}

/** The stored procedures most worth trying for a question. An empty list is a success: there is nothing to go on. */
@QueryHandler(RecallProcedures)
export class RecallProceduresHandler implements IQueryHandler<RecallProcedures> {
  constructor(
    private readonly database: Database,
    private readonly embedder: EmbeddingGenerator,
    private readonly clock: Clock,
    private readonly configuration: Configuration,
    private readonly metrics: Metrics,
    @Optional() private readonly intents?: IntentExtractor,
  ) {}

  async execute({ team, input, signal, asOf }: RecallProcedures): Promise<RecalledProcedures> {
    const { ranking: options, candidatePool } = this.configuration.procedures;
    const [intent, vector] = await Promise.all([
      this.intentOf(input, signal),
      embedOne(this.embedder, input.question, { timeoutMs: this.configuration.embedding.timeoutMs, signal }),
    ]);
    const search = {
      team,
      scope: input.scope,
      intent,
      contract: this.embedder.contract.id,
      vector,
      pool: Math.max(candidatePool, input.top),
    };
    const rows = await this.candidates(search, asOf);
    const { matches, candidateCount, removedByCutOff } = rankProcedures(rows.map(candidateOf), {
      now: asOf?.time ?? this.clock.now(),
      options,
      minSimilarity: input.minSimilarity,
      top: input.top,
    });
    this.metrics.recallCandidates.observe({ recall: 'procedures' }, candidateCount);
    this.metrics.recallReturned.observe({ recall: 'procedures' }, matches.length);
    const byId = new Map(rows.map((row) => [row.procedure_id, row]));
    return { matches: matches.flatMap((match) => withRow(match, byId.get(match.id))), candidateCount, removedByCutOff };
  }

  private async candidates(search: CandidateSearch, asOf: AsOf | undefined): Promise<CandidateRow[]> {
    const found = await this.database.asTeam(
      search.team,
      (queries) => (asOf ? findCandidatesAsOf(queries, search, asOf.position) : findCandidates(queries, search)),
      { snapshot: true },
    );
    // Once more, after row-level security and the query's own predicate: what is of another team never leaves here.
    return found.filter((row) => row.team_id === search.team);
  }

  /** Without an intent the whole scope is searched, also when the extractor is unsure or down. */
  private async intentOf({ intent, question }: RecallInput, signal: AbortSignal): Promise<string | undefined> {
    if (intent !== undefined || !this.intents) return intent;
    const { intent: settings, procedures } = this.configuration;
    try {
      return await askIntent(this.intents, question, {
        timeoutMs: settings?.timeoutMs,
        minConfidence: procedures.minIntentConfidence,
        signal,
      });
    } catch (error) {
      if (isDependencyUnavailable(error)) return undefined;
      throw error;
    }
  }
}

const withRow = (match: ProcedureMatch, row: CandidateRow | undefined): RecalledProcedure[] => (row ? [{ ...match, row }] : []);

const noRuns: JudgedCounters = { runs: 0, successes: 0, judged_runs: 0, judged_successes: 0, last_run_at: null };

function candidateOf(row: CandidateRow): Candidate {
  const { procedure_id, similarity } = row;
  const counters = countersOf(row.runs, row.successes, row.judged_runs, row.judged_successes, row.last_run_at) ?? noRuns;
  const { parent_runs, parent_successes, parent_judged_runs, parent_judged_successes, parent_last_run_at } = row;
  const parentCounters = countersOf(
    parent_runs,
    parent_successes,
    parent_judged_runs,
    parent_judged_successes,
    parent_last_run_at,
  );
  return { id: procedure_id, similarity, counters, parentCounters };
}

function countersOf(
  runs: number | null,
  successes: number | null,
  judged_runs: number | null,
  judged_successes: number | null,
  last_run_at: Date | null,
): JudgedCounters | undefined {
  if (runs === null || successes === null || judged_runs === null || judged_successes === null) return undefined;
  return { runs, successes, judged_runs, judged_successes, last_run_at };
}
