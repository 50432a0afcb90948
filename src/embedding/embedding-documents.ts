import type { Queries } from '../database/database.js';

/**
 * Read-model rows that carry a vector, and where the text of each comes from. Names and expressions become part of
 * statements, so they are constants of ours, never input.
 */
export interface EmbeddingDocuments {
  /** View in `mneme_read` with the columns contract, embedding, attempts, retry_at and failure beside its own. */
  readonly table: string;
  /** Its column with the memory's id, and that of `source` too. */
  readonly idColumn: string;
  /** View in `mneme_read`, one row per memory, that has the text. */
  readonly source: string;
  /** SQL expression over the alias `source`: the text to embed. */
  readonly text: string;
  /** SQL expression over the alias `source`: when the log learned of it, a timestamptz. */
  readonly recordedAt: string;
}

export const procedureDocuments: EmbeddingDocuments = {
  table: 'procedure_vectors',
  idColumn: 'procedure_id',
  source: 'procedures',
  text: 'source.question',
  recordedAt: 'source.remembered_at',
};

export const evidenceDocuments: EmbeddingDocuments = {
  table: 'evidence_vectors',
  idColumn: 'evidence_id',
  source: 'evidence',
  text: 'source.content',
  recordedAt: 'source.recorded_at',
};

/** All kinds of documents that get vectors. */
export const embeddingDocuments: readonly EmbeddingDocuments[] = [procedureDocuments, evidenceDocuments];

/** A document without a vector of the active contract. */
export interface PendingDocument {
  readonly team_id: string;
  readonly id: string;
  readonly content_hash: string;
  readonly attempts: number;
  readonly text: string;
}

export interface PendingCounts {
  /** Documents without a vector of the active contract, failed ones included. */
  readonly pending: number;
  /** Those of them that failed at least once and wait for their next attempt. */
  readonly failed: number;
  /** The failed ones by reason. */
  readonly failures: Readonly<Record<string, number>>;
  /** Age of the oldest of all that are pending; null when none is. */
  readonly oldestPendingSeconds: number | null;
  /** Age of the oldest that was never tried; null when there is none. It grows while the model is down. */
  readonly oldestUntriedSeconds: number | null;
}

const joined = ({ table, idColumn, source }: EmbeddingDocuments) =>
  `mneme_read.${table} d JOIN mneme_read.${source} source ON source.team_id = d.team_id AND source.${idColumn} = d.${idColumn}`;

const pendingQuery = (documents: EmbeddingDocuments, condition: string, order: string) => `
  SELECT d.team_id, d.${documents.idColumn} AS id, d.content_hash, coalesce(d.attempts, 0) AS attempts, ${documents.text} AS text
  FROM ${joined(documents)}
  WHERE d.embedding IS NULL AND ${condition}
  ORDER BY ${order}, d.team_id, d.${documents.idColumn}
  LIMIT $1`;

/** Documents that were never tried, oldest first. A partial index serves it. */
export const findUntried = (queries: Queries, documents: EmbeddingDocuments, limit: number): Promise<PendingDocument[]> =>
  queries.query<PendingDocument>(pendingQuery(documents, 'd.attempts IS NULL', 'd.position'), [limit]);

/** Documents that failed and whose time has come. */
export const findRetries = (queries: Queries, documents: EmbeddingDocuments, limit: number): Promise<PendingDocument[]> =>
  queries.query<PendingDocument>(
    pendingQuery(documents, 'd.attempts IS NOT NULL AND d.retry_at <= clock_timestamp()', 'd.retry_at'),
    [limit],
  );

/** A place in the order of a table's keys. */
export interface DocumentKey {
  readonly team_id: string;
  readonly id: string;
}

/**
 * Brings the next rows that have no vector of the contract as far as they come without a model: to the cached vector where
 * there is one, else to none. What another model made, vector or failure, is gone afterwards.
 *
 * @param after where the last call ended; undefined begins
 * @returns where to go on; undefined when all rows have been seen
 */
export async function adoptContract(
  queries: Queries,
  documents: EmbeddingDocuments,
  contract: string,
  { after, limit }: { after: DocumentKey | undefined; limit: number },
): Promise<DocumentKey | undefined> {
  const id = `d.${documents.idColumn}`;
  const rows = await queries.query<DocumentKey>(
    `SELECT d.team_id, ${id} AS id FROM mneme_read.${documents.table} d
     WHERE ($2::uuid IS NULL OR (d.team_id, ${id}) > ($2::uuid, $3::uuid))
       AND (d.embedding IS NULL OR d.contract IS DISTINCT FROM $1)
     ORDER BY d.team_id, ${id} LIMIT $4`,
    [contract, after?.team_id ?? null, after?.id ?? null, limit],
  );
  await queries.execute(
    `WITH wanted AS MATERIALIZED (
       SELECT k.team_id, k.id, made.embedding
       FROM unnest($2::uuid[], $3::uuid[]) AS k(team_id, id)
       LEFT JOIN LATERAL (
         SELECT c.embedding FROM mneme.vector_cache c
         WHERE c.team_id = k.team_id AND c.memory_id = k.id AND c.contract = $1 LIMIT 1
       ) made ON true
     )
     UPDATE mneme_read.${documents.table} d
     SET contract = CASE WHEN wanted.embedding IS NULL THEN NULL ELSE $1 END, embedding = wanted.embedding,
         attempts = NULL, retry_at = NULL, failure = NULL
     FROM wanted
     WHERE d.team_id = wanted.team_id AND ${id} = wanted.id
       AND (wanted.embedding IS NOT NULL OR d.contract <> $1) AND (d.embedding IS NULL OR d.contract IS DISTINCT FROM $1)`,
    [contract, rows.map(({ team_id }) => team_id), rows.map((row) => row.id)],
  );
  return rows.length < limit ? undefined : rows.at(-1);
}

/** Grows whenever another build of a read model begins to serve, whose rows may have other vectors. */
export async function buildGeneration(queries: Queries): Promise<bigint | undefined> {
  const [row] = await queries.query<{ generation: bigint }>('SELECT generation FROM mneme.projection_group');
  return row?.generation;
}

/** Writes vectors into the rows that still hold the same content; a row that was erased meanwhile is simply not there. */
export const writeVectors = (
  queries: Queries,
  documents: EmbeddingDocuments,
  contract: string,
  vectors: readonly { team_id: string; id: string; content_hash: string; vector: string }[],
): Promise<number> =>
  queries.execute(
    `UPDATE mneme_read.${documents.table} d
     SET contract = $1, embedding = made.embedding::vector, attempts = NULL, retry_at = NULL, failure = NULL
     FROM unnest($2::uuid[], $3::uuid[], $4::text[], $5::text[]) AS made(team_id, id, content_hash, embedding)
     WHERE d.team_id = made.team_id AND d.${documents.idColumn} = made.id AND d.content_hash = made.content_hash`,
    [
      contract,
      vectors.map(({ team_id }) => team_id),
      vectors.map(({ id }) => id),
      vectors.map(({ content_hash }) => content_hash),
      vectors.map(({ vector }) => vector),
    ],
  );

/** Writes the vector of one memory into its row, where that is there already and has none of this contract. */
export const writeVector = (
  queries: Queries,
  documents: EmbeddingDocuments,
  contract: string,
  { team, memoryId, vector }: { team: string; memoryId: string; vector: string },
): Promise<number> =>
  queries.execute(
    `UPDATE mneme_read.${documents.table} d
     SET contract = $1, embedding = $2::vector, attempts = NULL, retry_at = NULL, failure = NULL
     WHERE d.team_id = $3 AND d.${documents.idColumn} = $4 AND (d.embedding IS NULL OR d.contract IS DISTINCT FROM $1)`,
    [contract, vector, team, memoryId],
  );

/**
 * @param contract whose model failed: another one begins without failures
 * @param failures `delayMs`: from now until the next attempt
 */
export const recordFailures = (
  queries: Queries,
  documents: EmbeddingDocuments,
  contract: string,
  failures: readonly { document: PendingDocument; failure: string; delayMs: number }[],
): Promise<number> =>
  queries.execute(
    `UPDATE mneme_read.${documents.table} d
     SET contract = $1, attempts = failed.attempts, failure = failed.failure,
         retry_at = clock_timestamp() + failed.delay_ms * interval '1 millisecond'
     FROM unnest($2::uuid[], $3::uuid[], $4::int[], $5::text[], $6::float8[]) AS failed(team_id, id, attempts, failure, delay_ms)
     WHERE d.team_id = failed.team_id AND d.${documents.idColumn} = failed.id AND d.embedding IS NULL`,
    [
      contract,
      failures.map(({ document }) => document.team_id),
      failures.map(({ document }) => document.id),
      failures.map(({ document }) => document.attempts + 1),
      failures.map(({ failure }) => failure),
      failures.map(({ delayMs }) => delayMs),
    ],
  );

/** Reads the rows without a vector only, by their index: it is asked for at every scrape and every look at the health. */
export async function countPending(queries: Queries, documents: EmbeddingDocuments): Promise<PendingCounts> {
  const rows = await queries.query<{ reason: string | null; count: number }>(
    `SELECT split_part(d.failure, ':', 1) AS reason, count(*)::int AS count
     FROM mneme_read.${documents.table} d WHERE d.embedding IS NULL GROUP BY 1`,
  );
  const failures = Object.fromEntries(rows.flatMap(({ reason, count }) => (reason === null ? [] : [[reason, count]])));
  return {
    pending: rows.reduce((sum, { count }) => sum + count, 0),
    failed: Object.values(failures).reduce((sum, count) => sum + count, 0),
    failures,
    oldestPendingSeconds: await ageOfOldest(queries, documents, 'd.embedding IS NULL'),
    oldestUntriedSeconds: await ageOfOldest(queries, documents, 'd.embedding IS NULL AND d.attempts IS NULL'),
  };
}

async function ageOfOldest(queries: Queries, documents: EmbeddingDocuments, condition: string): Promise<number | null> {
  const [row] = await queries.query<{ age: number }>(
    `SELECT greatest(0, extract(epoch FROM clock_timestamp() - ${documents.recordedAt}))::float8 AS age
     FROM ${joined(documents)} WHERE ${condition} ORDER BY d.position LIMIT 1`,
  );
  return row?.age ?? null;
}

/** Of several kinds of documents together. */
export function sumOf(counts: readonly PendingCounts[]): PendingCounts {
  const failures: Record<string, number> = {};
  for (const each of counts)
    for (const [reason, count] of Object.entries(each.failures)) failures[reason] = (failures[reason] ?? 0) + count;
  return {
    pending: counts.reduce((sum, { pending }) => sum + pending, 0),
    failed: counts.reduce((sum, { failed }) => sum + failed, 0),
    failures,
    oldestPendingSeconds: oldest(counts.map(({ oldestPendingSeconds }) => oldestPendingSeconds)),
    oldestUntriedSeconds: oldest(counts.map(({ oldestUntriedSeconds }) => oldestUntriedSeconds)),
  };
}

function oldest(ages: readonly (number | null)[]): number | null {
  const known = ages.flatMap((age) => age ?? []);
  return known.length === 0 ? null : Math.max(...known);
}
