import type { Database } from '../database/database.js';
import type { DataKeys } from '../encryption/data-keys.js';

/** Makes a memory's content unreadable for ever: its key first, then the vectors that were made of it; its timers go too. */
export class KeyDestroyer {
  constructor(
    private readonly database: Database,
    private readonly keys: DataKeys,
  ) {}

  /**
   * Doing it again changes nothing. The key goes first: nobody can cache a vector for a memory whose key is destroyed, so
   * what the second step removes cannot come back.
   *
   * @throws DatabaseUnavailable
   */
  async destroy(team: string, memory: string): Promise<void> {
    await this.keys.destroy(team, memory);
    await this.database.as('mneme_system', async (queries) => {
      await queries.execute('DELETE FROM mneme.vector_cache WHERE team_id = $1 AND memory_id = $2', [team, memory]);
      // One that a reactor sets in this moment goes when the reactor comes to the erasing event.
      await queries.execute('DELETE FROM mneme.due_timers WHERE team_id = $1 AND memory_id = $2', [team, memory]);
    });
  }
}
