import { type Branch, type BranchEntry, type BranchResult, fuse } from '../fusion/fusion.js';
import { degrade, type DegradedBranch } from '../profiles/degradation.js';
import { type EvidenceProfile, poolSize } from '../profiles/evidence-profile.js';
import { nameWords } from '../query/named-authors.js';
import { parseQuery, type ParsedQuery } from '../query/parse-query.js';
import { searchIntervals } from '../query/temporal-intent.js';
import { bm25, type CollectionStatistics } from './bm25.js';
import { phraseContentLimit } from './candidate-signals.js';
import { type Adjacency, adjacencyOf, contextShares, type ContextShare } from './context.js';
import { type CandidateFacts, type EvidenceReads, type Gate } from './evidence-reads.js';
import { type EvidenceRequest } from './evidence-request.js';
import { planPostings, type PostingsPlan } from './postings-plan.js';

export interface Dropped {
  readonly id: string;
  readonly reason: 'hard_anchors' | 'vanished';
}

/** All that the read models say about one question. */
export interface Found {
  readonly query: ParsedQuery;
  readonly statistics: CollectionStatistics;
  /** Described, and through the gate. */
  readonly candidates: readonly CandidateFacts[];
  readonly results: readonly BranchResult[];
  readonly context: ReadonlyMap<string, ContextShare>;
  readonly dropped: readonly Dropped[];
  readonly degraded: readonly DegradedBranch[];
}

/** Neighbours are looked for up to this distance. */
const neighbourDistance = 2;
/** Candidates whose neighbours are looked for: the best by exact, text and vector. */
const mostSeeds = 200;
const nothing: CollectionStatistics = { documents: 0, totalLength: 0, documentFrequencies: new Map() };

/**
 * Runs the branches of a profile for one question, and the context of what they find.
 *
 * @throws BranchFailed when a branch fails that the profile requires
 */
export async function findCandidates(reads: EvidenceReads, request: EvidenceRequest, profile: EvidenceProfile): Promise<Found> {
  return new CandidateSearch(reads, request, profile).run();
}

interface TextFound {
  readonly statistics: CollectionStatistics;
  readonly plan: PostingsPlan | undefined;
  readonly entries: readonly BranchEntry[];
}

const noText: TextFound = { statistics: nothing, plan: undefined, entries: [] };

/** What each branch named by itself, before its candidates were described. */
interface Lists {
  readonly exact: readonly BranchEntry[];
  readonly text: TextFound;
  readonly vector: readonly BranchEntry[];
}

class CandidateSearch {
  private readonly degraded: DegradedBranch[] = [];
  private readonly described = new Map<string, CandidateFacts>();
  private readonly dropped = new Map<string, Dropped>();
  private readonly pool: number;

  constructor(
    private readonly reads: EvidenceReads,
    private readonly request: EvidenceRequest,
    private readonly profile: EvidenceProfile,
  ) {
    this.pool = poolSize(profile.pool, request.limit, request.knownCount);
  }

  async run(): Promise<Found> {
    const query = await this.parse();
    const gate: Gate = { anchors: query.anchors.hard };
    const lists: Lists = {
      exact: await this.branch('exact', [], () => this.exact(query, gate)),
      text: await this.branch('text', noText, () => this.text(query, gate)),
      vector: await this.branch('vector', [], () => this.vector(gate)),
    };
    const focused = await this.branch('context', [], () => this.focused(query, gate, lists.text.plan));
    await this.describe([...idsOf(lists.exact), ...idsOf(lists.text.entries), ...idsOf(lists.vector), ...focused], query);
    const adjacency = await this.branch('context', undefined, () => this.neighbours(query, gate, lists));
    const results = this.results(query, lists);
    const context = adjacency ? this.context(results, adjacency) : new Map<string, ContextShare>();
    return {
      query,
      statistics: lists.text.statistics,
      candidates: [...this.described.values()],
      results: adjacency ? [...results, contextResult(context)] : results,
      context,
      dropped: [...this.dropped.values()],
      degraded: this.degraded,
    };
  }

  /** What the branch gives; `fallback` when the profile does without it, and when it failed and may. */
  private async branch<T>(branch: Branch, fallback: T, run: () => Promise<T>): Promise<T> {
    if (!this.uses(branch)) return fallback;
    try {
      return await run();
    } catch (error) {
      const degraded = degrade(this.profile, branch, error);
      if (degraded) this.degraded.push(degraded);
      return fallback;
    }
  }

  private uses(branch: Branch): boolean {
    return this.profile.branches[branch] !== 'off' && !this.degraded.some((degraded) => degraded.branch === branch);
  }

  private async parse(): Promise<ParsedQuery> {
    const { question, language, now } = this.request;
    const authors = await this.branch('context', [], () => this.reads.authorsNamed(nameWords(question)));
    return parseQuery(question, { language, now, authors, issueKeys: this.profile.issueKeys });
  }

  private async exact({ names, anchors }: ParsedQuery, gate: Gate): Promise<BranchEntry[]> {
    if (names.length === 0 && anchors.ranking.length === 0) return [];
    const matches = await this.reads.exact({ names, anchors: anchors.ranking }, gate, this.pool);
    return matches.map(({ id, matches: score }) => ({ id, score }));
  }

  private async text({ terms }: ParsedQuery, gate: Gate): Promise<TextFound> {
    if (terms.length === 0) return noText;
    const statistics = await this.reads.statistics(terms);
    const plan = planPostings(terms, statistics, this.pool);
    const postings = plan.gather.length > 0 ? await this.reads.postings(plan, gate) : [];
    const scored = postings.map((posting) => ({ id: posting.id, score: bm25(posting, terms, statistics, this.profile.bm25) }));
    return { statistics, plan, entries: scored.sort(byScore).slice(0, this.pool) };
  }

  private async vector(gate: Gate): Promise<BranchEntry[]> {
    const { vector } = this.request;
    if (!vector) throw new Error('the question has no vector');
    const nearest = await this.reads.nearest(vector, gate, this.pool);
    return nearest.map(({ id, cosine }) => ({ id, score: cosine }));
  }

  /** What a named author said, and what happened at the asked time, even where others said it better. */
  private async focused(query: ParsedQuery, gate: Gate, plan: PostingsPlan | undefined): Promise<string[]> {
    const during = searchIntervals(query.temporal, this.request.now);
    if (query.authors.length === 0 && during.length === 0) return [];
    const focus: Gate = { ...gate, authors: query.authors, during };
    const { vector } = this.request;
    if (vector && this.uses('vector')) return idsOf(await this.reads.nearest(vector, focus, this.pool));
    if (!plan || plan.gather.length === 0) return [];
    return idsOf(await this.reads.postings(plan, focus)).slice(0, this.pool);
  }

  /**
   * Facts of those not described yet. Who lacks a required anchor is out, whatever the store's own gate let through.
   *
   * A failure here is no branch's: without the rows themselves there is nothing true to say.
   */
  private async describe(ids: readonly string[], { terms, anchors, names }: ParsedQuery): Promise<void> {
    const wanted = [...new Set(ids)].filter((id) => !this.described.has(id) && !this.dropped.has(id));
    if (wanted.length === 0) return;
    const vector = this.uses('vector') ? this.request.vector : undefined;
    const about = { terms, vector, anchors: anchors.ranking, names, contentLimit: phraseContentLimit };
    const rows = new Map((await this.reads.describe(wanted, about)).map((facts) => [facts.id, facts]));
    for (const id of wanted) {
      const facts = rows.get(id);
      if (!facts) this.dropped.set(id, { id, reason: 'vanished' });
      else if (anchors.hard.every((anchor) => facts.anchors.includes(anchor))) this.described.set(id, facts);
      else this.dropped.set(id, { id, reason: 'hard_anchors' });
    }
  }

  /** The neighbours of the best, described; they are candidates from here on. */
  private async neighbours(query: ParsedQuery, gate: Gate, lists: Lists): Promise<Adjacency> {
    const seeds = fuse(this.results(query, lists), this.profile.fusion).slice(0, mostSeeds);
    if (seeds.length === 0) return new Map();
    const neighbours = await this.reads.neighbours(idsOf(seeds), neighbourDistance, gate);
    await this.describe(idsOf(neighbours), query);
    return adjacencyOf(neighbours);
  }

  /**
   * What each branch says of the candidates. Where scores are added up, every candidate has the score of every branch,
   * however it was found; where places count, only those have one that the branch itself named.
   */
  private results({ terms }: ParsedQuery, { exact, text, vector }: Lists): BranchResult[] {
    const candidates = [...this.described.values()];
    const known = ({ id }: BranchEntry) => this.described.has(id);
    const everyScore = this.profile.fusion.mode === 'convex';
    const bm25Of = (facts: CandidateFacts) => bm25(facts, terms, text.statistics, this.profile.bm25);
    const textScores = candidates.map((facts) => ({ id: facts.id, score: bm25Of(facts) })).filter(({ score }) => score > 0);
    const cosines = candidates.flatMap(({ id, cosine }) => (cosine === null ? [] : [{ id, score: cosine }]));
    return [
      { branch: 'exact', entries: exact.filter(known) },
      { branch: 'text', entries: everyScore && this.uses('text') ? textScores : text.entries.filter(known) },
      { branch: 'vector', entries: everyScore && this.uses('vector') ? cosines : vector.filter(known) },
    ];
  }

  private context(results: readonly BranchResult[], adjacency: Adjacency): Map<string, ContextShare> {
    const scores = new Map(fuse(results, this.profile.fusion).map(({ id, score }) => [id, score]));
    return contextShares([...this.described.values()], scores, adjacency, this.profile.context);
  }
}

const idsOf = (entries: readonly { readonly id: string }[]) => entries.map(({ id }) => id);

const byScore = (a: BranchEntry, b: BranchEntry) => b.score - a.score || (a.id < b.id ? -1 : 1);

const contextResult = (context: ReadonlyMap<string, ContextShare>): BranchResult => ({
  branch: 'context',
  entries: [...context].filter(([, { total }]) => total > 0).map(([id, { total }]) => ({ id, score: total })),
});
