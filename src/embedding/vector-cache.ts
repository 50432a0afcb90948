import { createHmac } from 'node:crypto';
import { type Database, type Queries } from '../database/database.js';
import { isDatabaseUnavailable } from '../database/errors.js';
import type { DataKeys } from '../encryption/data-keys.js';
import { writeVector, type EmbeddingDocuments } from './embedding-documents.js';
import type { EmbeddingContract } from './embedding-generator.js';

/** A vector in the database's text form. */
export type VectorText = string;

export interface CachedVector {
  readonly team: string;
  readonly memoryId: string;
  readonly contentHmac: string;
  readonly vector: VectorText;
}

export const vectorText = (vector: ArrayLike<number>): VectorText => `[${Array.from(vector).join(',')}]`;

/**
 * Vectors already made, by team, content and contract.
 *
 * A memory's vectors are kept only while its data key lives, which is checked under a lock of the key's row: erasure
 * destroys the key first and deletes the cached vectors afterwards, so none can slip in behind it.
 */
export class VectorCache {
  constructor(
    private readonly database: Database,
    private readonly keys: Pick<DataKeys, 'derived'>,
    private readonly contract: EmbeddingContract,
    private readonly documents: readonly EmbeddingDocuments[],
  ) {}

  /**
   * Keeps the vector of a memory that a command had to embed anyway, also in its read-model row when that is there already.
   *
   * Called after the append, which must not look failed for want of a cache: an unavailable database is no error here, and
   * the embedding worker makes the vector again.
   *
   * @returns whether it was kept
   */
  async remember(memory: { team: string; memoryId: string; text: string; vector: ArrayLike<number> }): Promise<boolean> {
    const { team, memoryId, text } = memory;
    const vector = vectorText(memory.vector);
    try {
      const contentHmac = (await this.hmacOf(team))(text);
      const kept = await this.keep([{ team, memoryId, contentHmac, vector }]);
      if (!kept.has(memoryId)) return false;
      await this.database.as('mneme_projector', async (queries) => {
        for (const documents of this.documents)
          await writeVector(queries, documents, this.contract.id, { team, memoryId, vector });
      });
      return true;
    } catch (error) {
      if (isDatabaseUnavailable(error)) return false;
      throw error;
    }
  }

  /** Keyed by the team, because a bare hash would confirm a guess at erased text. @throws DatabaseUnavailable, KeyUnavailable */
  async hmacOf(team: string): Promise<(text: string) => string> {
    const key = await this.keys.derived({ team, owner: team }, 'vector_cache');
    return (text) => createHmac('sha256', key).update(text).digest('hex');
  }

  /** The vectors of these contents, whichever memory of the team they were made for. Keyed by `contentHmac`. */
  async find(contents: readonly { team: string; contentHmac: string }[]): Promise<Map<string, VectorText>> {
    if (contents.length === 0) return new Map();
    const rows = await this.database.as('mneme_projector', (queries) =>
      queries.query<{ content_hmac: string; embedding: VectorText }>(
        `SELECT DISTINCT ON (c.team_id, c.content_hmac) c.content_hmac, c.embedding
         FROM unnest($1::uuid[], $2::text[]) AS wanted(team_id, content_hmac)
         JOIN mneme.vector_cache c ON c.team_id = wanted.team_id AND c.content_hmac = wanted.content_hmac AND c.contract = $3`,
        [contents.map(({ team }) => team), contents.map(({ contentHmac }) => contentHmac), this.contract.id],
      ),
    );
    return new Map(rows.map(({ content_hmac, embedding }) => [content_hmac, embedding]));
  }

  /** @returns ids of the memories whose vector is kept: those with a living key */
  async keep(vectors: readonly CachedVector[]): Promise<Set<string>> {
    if (vectors.length === 0) return new Set();
    return this.database.as('mneme_system', async (queries) => {
      const living = await lockLivingKeys(queries, vectors);
      const kept = vectors.filter(({ team, memoryId }) => living.has(`${team}|${memoryId}`));
      await queries.execute(
        `INSERT INTO mneme.vector_cache (team_id, memory_id, content_hmac, contract, embedding)
         SELECT team_id, memory_id, content_hmac, $5, embedding::vector
         FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) AS made(team_id, memory_id, content_hmac, embedding)
         ON CONFLICT DO NOTHING`,
        [
          kept.map(({ team }) => team),
          kept.map(({ memoryId }) => memoryId),
          kept.map(({ contentHmac }) => contentHmac),
          kept.map(({ vector }) => vector),
          this.contract.id,
        ],
      );
      return new Set(kept.map(({ memoryId }) => memoryId));
    });
  }
}

/** As `team|owner`. In key order, so that two callers cannot wait for each other; whoever destroys one of them waits until we are done. */
async function lockLivingKeys(queries: Queries, vectors: readonly CachedVector[]): Promise<Set<string>> {
  const rows = await queries.query<{ team_id: string; owner: string }>(
    `SELECT k.team_id, k.owner FROM mneme.data_keys k
     JOIN unnest($1::uuid[], $2::text[]) AS wanted(team_id, owner) ON k.team_id = wanted.team_id AND k.owner = wanted.owner
     WHERE k.state = 'active'
     ORDER BY k.team_id, k.owner
     FOR SHARE OF k`,
    [vectors.map(({ team }) => team), vectors.map(({ memoryId }) => memoryId)],
  );
  return new Set(rows.map(({ team_id, owner }) => `${team_id}|${owner}`));
}
