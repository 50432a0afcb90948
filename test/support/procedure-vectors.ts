import { createHash, randomUUID } from 'node:crypto';
import { proceduresProjection } from '../../projections/procedures/procedures.projection.js';
import { createSchema, pointViews, schemaName } from '../../projections/engine/schema-sql.js';
import type { Database } from '../../src/database/database.js';

/** A stored question, as the read models of procedures show it. */
export interface StoredQuestion {
  readonly team: string;
  readonly id: string;
  readonly question: string;
}

export interface VectorRow {
  contract: string | null;
  embedding: string | null;
  attempts: number | null;
  waits_ms: number | null;
  failure: string | null;
}

const schema = schemaName('procedures', proceduresProjection.version, 1);

/** The read models that the embedding worker works on, made as the projection engine makes them. */
export class ProcedureVectors {
  private position = 0;

  private constructor(private readonly database: Database) {}

  static async create(database: Database): Promise<ProcedureVectors> {
    await database.query(createSchema(schema, proceduresProjection));
    await database.query(pointViews(schema, proceduresProjection));
    return new ProcedureVectors(database);
  }

  /** What the projection writes when a procedure was remembered `ageSeconds` ago. */
  async add(team: string, question: string, options: { id?: string; ageSeconds?: number } = {}): Promise<StoredQuestion> {
    const { id = randomUUID(), ageSeconds = 0 } = options;
    const hash = createHash('sha256').update(question).digest('hex');
    this.position += 1;
    const position = this.position;
    await this.database.as('mneme_projector', async (queries) => {
      await queries.execute(
        `INSERT INTO ${schema}.procedures (team_id, procedure_id, scope, question, graph, version, status, remembered_at, position, revision)
         VALUES ($1, $2, 'default', $3, '{}', '1', 'active', clock_timestamp() - $4 * interval '1 second', $5, 0)`,
        [team, id, question, ageSeconds, position],
      );
      await queries.execute(
        `INSERT INTO ${schema}.procedure_vectors (team_id, procedure_id, scope, status, content_hash, position)
         VALUES ($1, $2, 'default', 'active', $3, $4)`,
        [team, id, hash, position],
      );
    });
    return { team, id, question };
  }

  /** What the projection does when a procedure was erased. */
  async erase({ team, id }: StoredQuestion): Promise<void> {
    await this.database.as('mneme_projector', async (queries) => {
      await queries.execute(`DELETE FROM ${schema}.procedures WHERE team_id = $1 AND procedure_id = $2`, [team, id]);
      await queries.execute(`DELETE FROM ${schema}.procedure_vectors WHERE team_id = $1 AND procedure_id = $2`, [team, id]);
    });
  }

  async row({ team, id }: StoredQuestion): Promise<VectorRow | undefined> {
    const [row] = await this.database.as('mneme_projector', (queries) =>
      queries.query<VectorRow>(
        `SELECT contract, embedding, attempts, failure, extract(epoch FROM retry_at - clock_timestamp())::float8 * 1000 AS waits_ms
         FROM mneme_read.procedure_vectors WHERE team_id = $1 AND procedure_id = $2`,
        [team, id],
      ),
    );
    return row;
  }

  async clear(): Promise<void> {
    await this.database.query(`TRUNCATE mneme.vector_cache, ${schema}.procedures, ${schema}.procedure_vectors`);
  }

  /** What the projection writes when a document's content changes. */
  async changeContent({ team, id }: StoredQuestion): Promise<void> {
    await this.database.as('mneme_projector', (queries) =>
      queries.execute(
        `UPDATE ${schema}.procedure_vectors SET content_hash = 'another' WHERE team_id = $1 AND procedure_id = $2`,
        [team, id],
      ),
    );
  }

  /** Lets failed documents try again now. */
  async letRetry(): Promise<void> {
    await this.database.as('mneme_projector', (queries) =>
      queries.execute('UPDATE mneme_read.procedure_vectors SET retry_at = clock_timestamp() WHERE retry_at IS NOT NULL'),
    );
  }

  /** What a row is like in a build that begins to serve before anything copied its vector. */
  async forget({ team, id }: StoredQuestion): Promise<void> {
    await this.database.as('mneme_projector', (queries) =>
      queries.execute(
        `UPDATE ${schema}.procedure_vectors SET contract = NULL, embedding = NULL WHERE team_id = $1 AND procedure_id = $2`,
        [team, id],
      ),
    );
  }

  /** How many cached vectors each memory has, by its id. */
  async cached(): Promise<Record<string, number>> {
    const rows = await this.database.as('mneme_projector', (queries) =>
      queries.query<{ memory_id: string; count: number }>(
        'SELECT memory_id, count(*)::int AS count FROM mneme.vector_cache GROUP BY memory_id',
      ),
    );
    return Object.fromEntries(rows.map(({ memory_id, count }) => [memory_id, count]));
  }
}
