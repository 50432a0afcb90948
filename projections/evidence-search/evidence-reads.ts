import pgvector from 'pgvector';
import type { Queries } from '../../src/database/database.js';
import type { CollectionStatistics } from '../../src/ranking/evidence/bm25.js';
import type {
  About,
  CandidateFacts,
  EvidenceReads,
  ExactMatch,
  ExactNames,
  Gate,
  Neighbourhood,
  NeighbourOf,
  Posting,
  QueryVector,
} from '../../src/ranking/evidence/evidence-reads.js';
import type { PostingsPlan } from '../../src/ranking/evidence/postings-plan.js';
import { searchableText } from '../../src/ranking/evidence/searchable-text.js';
import { isUuid } from '../../src/uuid.js';
import { admitted, type EvidenceBounds, Statement } from './evidence-scope.js';

/**
 * The reads of ranking on PostgreSQL, in one snapshot, for one recall.
 *
 * Each runs behind a savepoint: a branch that the profile can do without may fail, and the next one is asked in the same
 * transaction.
 */
export class PostgresEvidenceReads implements EvidenceReads {
  constructor(
    private readonly queries: Queries,
    private readonly bounds: EvidenceBounds,
  ) {}

  async authorsNamed(words: readonly string[]): Promise<readonly string[]> {
    if (words.length === 0) return [];
    const statement = new Statement();
    const { of } = statement;
    const rows = await this.read<{ author: string }>(
      statement,
      `SELECT named.author FROM (
         SELECT DISTINCT w.author FROM mneme_read.search_author_words w
         WHERE w.team_id = ${of(this.bounds.team)} AND w.word = ANY(${of(words)}::text[])) named
       WHERE EXISTS (SELECT FROM mneme_read.evidence e WHERE e.author = named.author AND ${admitted(statement, this.bounds)})
       ORDER BY named.author LIMIT 50`,
    );
    return rows.map(({ author }) => author);
  }

  async statistics(terms: readonly string[]): Promise<CollectionStatistics> {
    const { position } = this.bounds;
    const rows = position === undefined ? await this.countsNow(terms) : await this.countsAt(terms, position);
    const [whole] = rows;
    return {
      documents: whole?.documents ?? 0,
      totalLength: Number(whole?.total_length ?? 0),
      documentFrequencies: new Map(rows.flatMap(({ term, found }) => (term === null ? [] : [[term, found]]))),
    };
  }

  async exact({ names, anchors }: ExactNames, gate: Gate, limit: number): Promise<readonly ExactMatch[]> {
    const statement = new Statement();
    const { of } = statement;
    const team = of(this.bounds.team);
    const called = of(names);
    return this.read<ExactMatch>(
      statement,
      `SELECT e.evidence_id AS id, count(*)::int4 AS matches
       FROM (
         SELECT evidence_id, evidence_id::text AS what FROM mneme_read.evidence
         WHERE team_id = ${team} AND evidence_id = ANY(${of(names.filter(isUuid))}::uuid[])
         UNION SELECT evidence_id, external_id FROM mneme_read.evidence_aliases
         WHERE team_id = ${team} AND external_id = ANY(${called}::text[])
         UNION SELECT evidence_id, source_key FROM mneme_read.evidence
         WHERE team_id = ${team} AND source_key = ANY(${called}::text[])
         UNION SELECT evidence_id, 'anchor ' || anchor FROM mneme_read.search_anchors
         WHERE team_id = ${team} AND anchor = ANY(${of(anchors)}::text[])) found
       JOIN mneme_read.evidence e ON e.evidence_id = found.evidence_id
       WHERE ${admitted(statement, this.bounds, gate)}
       GROUP BY e.evidence_id ORDER BY matches DESC, e.evidence_id LIMIT ${of(limit)}`,
    );
  }

  /** The documents of each gathering term, those with the greatest share of it first, then the counts of all scoring terms. */
  async postings({ gather, score, documentsPerTerm }: PostingsPlan, gate: Gate): Promise<readonly Posting[]> {
    if (gather.length === 0) return [];
    const statement = new Statement();
    const { of } = statement;
    const team = of(this.bounds.team);
    const rows = await this.read<CountsRow>(
      statement,
      `WITH gathered AS MATERIALIZED (
         SELECT DISTINCT of_term.evidence_id, of_term.length
         FROM unnest(${of(gather)}::text[]) AS wanted(term)
         CROSS JOIN LATERAL (
           SELECT p.evidence_id, p.length FROM mneme_read.search_postings p
           JOIN mneme_read.evidence e ON e.evidence_id = p.evidence_id
           WHERE p.team_id = ${team} AND p.term = wanted.term AND ${admitted(statement, this.bounds, gate)}
           ORDER BY p.frequency::float8 / greatest(p.length, 1) DESC, p.evidence_id
           LIMIT ${of(documentsPerTerm)}) of_term)
       SELECT g.evidence_id AS id, g.length, array_agg(p.term) AS terms, array_agg(p.frequency) AS frequencies
       FROM gathered g
       JOIN mneme_read.search_postings p ON p.team_id = ${team} AND p.evidence_id = g.evidence_id AND p.term = ANY(${of(score)}::text[])
       GROUP BY g.evidence_id, g.length`,
    );
    return rows.map(postingOf);
  }

  /** Exact: every vector of the contract is compared. Vectors of another contract may have another length, and are never reached. */
  async nearest(vector: QueryVector, gate: Gate, limit: number): Promise<readonly Neighbourhood[]> {
    const statement = new Statement();
    const { of } = statement;
    return this.read<Neighbourhood>(
      statement,
      `SELECT e.evidence_id AS id, 1 - (v.embedding <=> ${of(pgvector.toSql([...Array.from(vector.values)]))}::vector) AS cosine
       FROM mneme_read.evidence_vectors v
       JOIN mneme_read.evidence e ON e.evidence_id = v.evidence_id
       WHERE v.team_id = ${of(this.bounds.team)} AND v.contract = ${of(vector.contract)} AND v.embedding IS NOT NULL
         AND ${admitted(statement, this.bounds, gate)}
       ORDER BY cosine DESC, e.evidence_id LIMIT ${of(limit)}`,
    );
  }

  /**
   * Each group is numbered once: looking around every seed for itself asked 200 seeds x 200 members whether they are eligible,
   * which took the embedded database half a minute.
   */
  async neighbours(ids: readonly string[], distance: number, gate: Gate): Promise<readonly NeighbourOf[]> {
    if (ids.length === 0) return [];
    const statement = new Statement();
    const { of } = statement;
    const team = of(this.bounds.team);
    const seeds = of(ids);
    const steps = of(distance);
    return this.read<NeighbourOf>(
      statement,
      `WITH members AS MATERIALIZED (
         SELECT e.evidence_id, e.group_name, row_number() OVER (PARTITION BY e.group_name ORDER BY e.sequence, e.evidence_id) AS place
         FROM mneme_read.evidence e
         WHERE e.group_name IN (
             SELECT seed.group_name FROM mneme_read.evidence seed
             WHERE seed.team_id = ${team} AND seed.evidence_id = ANY(${seeds}::uuid[]) AND seed.sequence IS NOT NULL)
           AND e.sequence IS NOT NULL AND ${admitted(statement, this.bounds)}),
       around AS MATERIALIZED (
         SELECT seed.evidence_id AS of, near.evidence_id AS id, (near.place - seed.place)::int4 AS "offset"
         FROM members seed
         CROSS JOIN generate_series(-${steps}::int4, ${steps}::int4) AS step
         JOIN members near ON near.group_name = seed.group_name AND near.place = seed.place + step
         WHERE seed.evidence_id = ANY(${seeds}::uuid[]) AND step <> 0)
       SELECT around.of, around.id, around."offset" FROM around
       JOIN mneme_read.evidence e ON e.evidence_id = around.id
       WHERE ${admitted(statement, this.bounds, gate)}
       ORDER BY around.of, around."offset"`,
    );
  }

  async describe(ids: readonly string[], about: About): Promise<readonly CandidateFacts[]> {
    if (ids.length === 0) return [];
    const { terms, vector, anchors, names, contentLimit } = about;
    const statement = new Statement();
    const { of } = statement;
    const called = `${of(names)}::text[]`;
    const of_document = 'x.team_id = e.team_id AND x.evidence_id = e.evidence_id';
    const cosine = vector
      ? `(SELECT 1 - (x.embedding <=> ${of(pgvector.toSql([...Array.from(vector.values)]))}::vector) FROM mneme_read.evidence_vectors x
          WHERE ${of_document} AND x.contract = ${of(vector.contract)} AND x.embedding IS NOT NULL)`
      : 'NULL::float8';
    const rows = await this.read<FactsRow>(
      statement,
      `SELECT e.evidence_id AS id, d.length, counts.terms, counts.frequencies, e.content, e.metadata, d.context_bytes, e.author,
              e.group_name, e.occurred_at, e.valid_from, e.valid_to, d.asks, d.tells_time, ${cosine} AS cosine,
              ARRAY(SELECT x.anchor FROM mneme_read.search_anchors x
                    WHERE ${of_document} AND x.anchor = ANY(${of(anchors)}::text[])) AS anchors,
              e.evidence_id::text = ANY(${called}) OR coalesce(e.source_key = ANY(${called}), false) OR EXISTS (
                SELECT FROM mneme_read.evidence_aliases x WHERE ${of_document} AND x.external_id = ANY(${called})) AS is_named
       FROM mneme_read.evidence e
       JOIN mneme_read.search_documents d ON d.team_id = e.team_id AND d.evidence_id = e.evidence_id
       CROSS JOIN LATERAL (
         SELECT coalesce(array_agg(x.term), '{}') AS terms, coalesce(array_agg(x.frequency), '{}') AS frequencies
         FROM mneme_read.search_postings x WHERE ${of_document} AND x.term = ANY(${of(terms)}::text[])) counts
       WHERE e.evidence_id = ANY(${of(ids)}::uuid[]) AND ${admitted(statement, this.bounds)}`,
    );
    return rows.map((row) => factsOf(row, contentLimit));
  }

  private countsNow(terms: readonly string[]): Promise<StatisticsRow[]> {
    const statement = new Statement();
    const { of } = statement;
    return this.read<StatisticsRow>(
      statement,
      `SELECT c.documents, c.total_length, t.term, t.documents AS found
       FROM mneme_read.search_collections c
       LEFT JOIN mneme_read.search_terms t ON t.team_id = c.team_id AND t.term = ANY(${of(terms)}::text[])
       WHERE c.team_id = ${of(this.bounds.team)}`,
    );
  }

  /** Counted anew: the statistics are kept for now only. */
  private countsAt(terms: readonly string[], position: bigint): Promise<StatisticsRow[]> {
    const statement = new Statement();
    const { of } = statement;
    const team = of(this.bounds.team);
    const at = of(position);
    return this.read<StatisticsRow>(
      statement,
      `SELECT c.documents, c.total_length, t.term, t.found
       FROM (SELECT count(*)::int4 AS documents, coalesce(sum(length), 0)::int8 AS total_length
             FROM mneme_read.search_documents WHERE team_id = ${team} AND position <= ${at}) c
       LEFT JOIN (
         SELECT p.term, count(*)::int4 AS found FROM mneme_read.search_postings p
         JOIN mneme_read.search_documents d ON d.team_id = p.team_id AND d.evidence_id = p.evidence_id
         WHERE p.team_id = ${team} AND p.term = ANY(${of(terms)}::text[]) AND d.position <= ${at}
         GROUP BY p.term) t ON true`,
    );
  }

  private async read<R extends object>({ values }: Statement, sql: string): Promise<R[]> {
    await this.queries.execute('SAVEPOINT read');
    try {
      return await this.queries.query<R>(sql, values);
    } catch (error) {
      // Where the connection is gone this fails too, and so does everything after it; the first failure says why.
      await this.queries.execute('ROLLBACK TO SAVEPOINT read').catch(() => undefined);
      throw error;
    }
  }
}

interface StatisticsRow {
  readonly documents: number;
  readonly total_length: bigint;
  readonly term: string | null;
  readonly found: number;
}

interface CountsRow {
  readonly id: string;
  readonly length: number;
  readonly terms: readonly string[];
  readonly frequencies: readonly number[];
}

interface FactsRow extends CountsRow {
  readonly content: string;
  readonly metadata: string;
  readonly context_bytes: number;
  readonly author: string | null;
  readonly group_name: string | null;
  readonly occurred_at: Date | null;
  readonly valid_from: Date | null;
  readonly valid_to: Date | null;
  readonly asks: boolean;
  readonly tells_time: boolean;
  readonly cosine: number | null;
  readonly anchors: readonly string[];
  readonly is_named: boolean;
}

const postingOf = ({ id, length, terms, frequencies }: CountsRow): Posting => ({
  id,
  length,
  frequencies: new Map(terms.map((term, index) => [term, frequencies[index] ?? 0])),
});

type Metadata = Parameters<typeof searchableText>[1];

const factsOf = (row: FactsRow, contentLimit: number): CandidateFacts => ({
  ...postingOf(row),
  content: Array.from(searchableText(row.content, JSON.parse(row.metadata) as Metadata))
    .slice(0, contentLimit)
    .join(''),
  contextBytes: row.context_bytes,
  author: row.author,
  group: row.group_name,
  occurredAt: row.occurred_at,
  validFrom: row.valid_from,
  validTo: row.valid_to,
  cosine: row.cosine,
  anchors: row.anchors,
  isNamed: row.is_named,
  asks: row.asks,
  tellsTime: row.tells_time,
  factSupport: 0,
  sourceGroups: 0,
});

/** Content of evidence that is to be shown. */
export interface EvidenceContext {
  readonly team_id: string;
  readonly evidence_id: string;
  readonly content: string;
}

/** One bounded read of what was selected, which authorises each row again: what is not eligible here is missing. */
export function hydrateEvidence(queries: Queries, bounds: EvidenceBounds, ids: readonly string[]): Promise<EvidenceContext[]> {
  const statement = new Statement();
  return queries.query<EvidenceContext>(
    `SELECT e.team_id, e.evidence_id, e.content FROM mneme_read.evidence e
     WHERE e.evidence_id = ANY(${statement.of(ids)}::uuid[]) AND ${admitted(statement, bounds)}`,
    statement.values,
  );
}

/** The language that the team's questions are asked in; undefined for a team not projected yet. */
export async function searchLanguage(queries: Queries, team: string): Promise<string | undefined> {
  const [row] = await queries.query<{ language: string }>(
    'SELECT language FROM mneme_read.search_collections WHERE team_id = $1',
    [team],
  );
  return row?.language;
}
