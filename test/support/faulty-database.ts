import { Database, type Queries, type Role } from '../../src/database/database.js';
import { DatabaseUnavailable } from '../../src/database/errors.js';

/**
 * What happens to a transaction of the projector:
 * - `lost`: the connection breaks when all its statements have run, before the commit
 * - `lost_answer`: it is committed, and the owner cannot know
 */
export type TransactionFault = 'lost' | 'lost_answer';

/** A real database behind a bad connection: each fault happens to one transaction of the projector, in order. */
export class FaultyDatabase extends Database {
  private readonly faults: (TransactionFault | undefined)[] = [];

  /** @param faults undefined lets a transaction pass */
  next(...faults: (TransactionFault | undefined)[]): void {
    this.faults.push(...faults);
  }

  override async as<T>(
    role: Exclude<Role, 'mneme_app'>,
    work: (queries: Queries) => Promise<T>,
    options: { snapshot?: boolean } = {},
  ): Promise<T> {
    const fault = role === 'mneme_projector' ? this.faults.shift() : undefined;
    const result = await super.as(
      role,
      async (queries) => {
        const done = await work(queries);
        if (fault === 'lost') throw new DatabaseUnavailable('08006');
        return done;
      },
      options,
    );
    if (fault === 'lost_answer') throw new DatabaseUnavailable(undefined);
    return result;
  }
}
