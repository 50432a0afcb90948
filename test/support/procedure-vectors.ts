import { createHash, randomUUID } from 'node:crypto';
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

/** The read models that the embedding worker works on, in the shape the projection engine gives them. */
export class ProcedureVectors {
  private position = 0;

  private constructor(private readonly database: Database) {}

  static async create(database: Database): Promise<ProcedureVectors> {
    await database.query(`
      CREATE SCHEMA mneme_procedures_1_1;
      CREATE TABLE mneme_procedures_1_1.procedures (
        team_id uuid NOT NULL, procedure_id uuid NOT NULL, question text NOT NULL, remembered_at timestamptz NOT NULL,
        PRIMARY KEY (team_id, procedure_id));
      CREATE TABLE mneme_procedures_1_1.procedure_vectors (
        team_id uuid NOT NULL, procedure_id uuid NOT NULL, content_hash text NOT NULL, position int8 NOT NULL,
        contract text, embedding vector, attempts int4, retry_at timestamptz, failure text,
        PRIMARY KEY (team_id, procedure_id));
      GRANT USAGE ON SCHEMA mneme_procedures_1_1 TO mneme_projector;`);
    for (const table of ['procedures', 'procedure_vectors']) {
      await database.query(`
        ALTER TABLE mneme_procedures_1_1.${table} ENABLE ROW LEVEL SECURITY;
        ALTER TABLE mneme_procedures_1_1.${table} FORCE ROW LEVEL SECURITY;
        CREATE POLICY projector ON mneme_procedures_1_1.${table} TO mneme_projector USING (true) WITH CHECK (true);
        CREATE VIEW mneme_read.${table} WITH (security_invoker = true) AS SELECT * FROM mneme_procedures_1_1.${table};
        GRANT SELECT, INSERT, UPDATE, DELETE ON mneme_procedures_1_1.${table}, mneme_read.${table} TO mneme_projector;`);
    }
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
        `INSERT INTO mneme_read.procedures VALUES ($1, $2, $3, clock_timestamp() - $4 * interval '1 second')`,
        [team, id, question, ageSeconds],
      );
      await queries.execute(
        `INSERT INTO mneme_read.procedure_vectors (team_id, procedure_id, content_hash, position) VALUES ($1, $2, $3, $4)`,
        [team, id, hash, position],
      );
    });
    return { team, id, question };
  }

  /** What the projection does when a procedure was erased. */
  async erase({ team, id }: StoredQuestion): Promise<void> {
    await this.database.as('mneme_projector', async (queries) => {
      await queries.execute('DELETE FROM mneme_read.procedures WHERE team_id = $1 AND procedure_id = $2', [team, id]);
      await queries.execute('DELETE FROM mneme_read.procedure_vectors WHERE team_id = $1 AND procedure_id = $2', [team, id]);
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

  /** Lets failed documents try again now. */
  async letRetry(): Promise<void> {
    await this.database.as('mneme_projector', (queries) =>
      queries.execute('UPDATE mneme_read.procedure_vectors SET retry_at = NULL'),
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
