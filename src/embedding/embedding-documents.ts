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
  /** Those of them that failed at least once. */
  readonly failed: number;
  /** Age of the oldest of them; null when none is pending. */
  readonly oldestPendingSeconds: number | null;
}

const joined = ({ table, idColumn, source }: EmbeddingDocuments) =>
  `mneme_read.${table} d JOIN mneme_read.${source} source ON source.team_id = d.team_id AND source.${idColumn} = d.${idColumn}`;

const due = '(d.retry_at IS NULL OR d.retry_at <= clock_timestamp())';

const pendingQuery = (documents: EmbeddingDocuments, condition: string, values: string) => `
  SELECT d.team_id, d.${documents.idColumn} AS id, d.content_hash, coalesce(d.attempts, 0) AS attempts, ${documents.text} AS text
  FROM ${joined(documents)}
  WHERE ${condition} AND ${due}
  ORDER BY d.position, d.team_id, d.${documents.idColumn}
  LIMIT ${values}`;

/** Documents without any vector, oldest first. A partial index serves it. */
export const findMissing = (queries: Queries, documents: EmbeddingDocuments, limit: number): Promise<PendingDocument[]> =>
  queries.query<PendingDocument>(pendingQuery(documents, 'd.embedding IS NULL', '$1'), [limit]);

/** Documents whose vector another model made. */
export const findOutdated = (
  queries: Queries,
  documents: EmbeddingDocuments,
  contract: string,
  limit: number,
): Promise<PendingDocument[]> =>
  queries.query<PendingDocument>(pendingQuery(documents, 'd.embedding IS NOT NULL AND d.contract IS DISTINCT FROM $1', '$2'), [
    contract,
    limit,
  ]);

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

/** @param failures `delayMs`: from now until the next attempt */
export const recordFailures = (
  queries: Queries,
  documents: EmbeddingDocuments,
  failures: readonly { document: PendingDocument; failure: string; delayMs: number }[],
): Promise<number> =>
  queries.execute(
    `UPDATE mneme_read.${documents.table} d
     SET attempts = failed.attempts, failure = failed.failure, retry_at = clock_timestamp() + failed.delay_ms * interval '1 millisecond'
     FROM unnest($1::uuid[], $2::uuid[], $3::int[], $4::text[], $5::float8[]) AS failed(team_id, id, attempts, failure, delay_ms)
     WHERE d.team_id = failed.team_id AND d.${documents.idColumn} = failed.id`,
    [
      failures.map(({ document }) => document.team_id),
      failures.map(({ document }) => document.id),
      failures.map(({ document }) => document.attempts + 1),
      failures.map(({ failure }) => failure),
      failures.map(({ delayMs }) => delayMs),
    ],
  );

export async function countPending(queries: Queries, documents: EmbeddingDocuments, contract: string): Promise<PendingCounts> {
  const [row] = await queries.query<{ pending: number; failed: number; oldest: number | null }>(
    `SELECT count(*)::int AS pending, count(d.failure)::int AS failed,
            greatest(0, extract(epoch FROM clock_timestamp() - min(${documents.recordedAt})))::float8 AS oldest
     FROM ${joined(documents)}
     WHERE d.embedding IS NULL OR d.contract IS DISTINCT FROM $1`,
    [contract],
  );
  const pending = row?.pending ?? 0;
  return { pending, failed: row?.failed ?? 0, oldestPendingSeconds: pending === 0 ? null : (row?.oldest ?? 0) };
}
