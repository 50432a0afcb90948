import type { Queries } from '../../src/database/database.js';

export interface CapturedStatement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** The statements that a function of the product sends. They find nothing: what depends on an answer is not sent. */
export async function captured(work: (queries: Queries) => Promise<unknown>): Promise<CapturedStatement[]> {
  const statements: CapturedStatement[] = [];
  await work({
    query: (sql, values = []) => {
      statements.push({ sql, values });
      return Promise.resolve([]);
    },
    execute: (sql, values = []) => {
      statements.push({ sql, values });
      return Promise.resolve(0);
    },
  });
  return statements;
}
