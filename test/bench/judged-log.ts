import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { Projection } from '../../projections/engine/projection.js';
import { eventCatalogue } from '../../src/all-events.js';
import { Database } from '../../src/database/database.js';
import { migrate } from '../../src/database/migrate.js';
import { KeyRing } from '../../src/encryption/data-keys.js';
import { Codec } from '../../src/event-log/codec.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import { fixedKey } from '../support/fixed-keys.js';
import { JudgedLoad, type LoadSize } from './judged-load.js';

/** Appends sent at once while the log is filled. */
const appendsAtOnce = 2_000;

/** Keys that follow from their owners' names: a read model that opens no box must not ask for any. */
const keys = {
  provision: (team: string, owners: readonly string[]) =>
    Promise.resolve(
      new KeyRing(
        owners.map((owner) => [
          { team, owner },
          { state: 'active', key: fixedKey(team, owner) },
        ]),
      ),
    ),
  fetch: () => Promise.reject(new Error('a replay without content asked for keys')),
};

/** A log of runs and what people said of them, on a database of its own. */
export class JudgedLog {
  readonly codec = new Codec(eventCatalogue, keys, 'mneme_');

  private constructor(
    readonly database: Database,
    readonly log: PostgresEventLog,
  ) {}

  /** Filled with so many events. */
  static async open(databaseUrl: string, size: LoadSize): Promise<JudgedLog> {
    const database = new Database(databaseUrl, false, 10);
    await migrate(database);
    const judged = new JudgedLog(database, new PostgresEventLog(database));
    await judged.fill(size);
    await database.query('VACUUM ANALYZE mneme.events');
    return judged;
  }

  engine(projections: readonly Projection[]): ProjectionEngine {
    const { database, log, codec } = this;
    return new ProjectionEngine({ database, log, codec, logId: 'log-of-the-bench', projections });
  }

  /** Starts it and waits until it has applied everything. */
  async level(engine: ProjectionEngine): Promise<void> {
    await engine.start();
    const { reached } = await engine.waitFor(await this.log.head(), 600_000, []);
    if (!reached) throw new Error('the read models did not become level with the log');
  }

  async close(): Promise<void> {
    await this.log.close();
    await this.database.close();
  }

  private async fill(size: LoadSize): Promise<void> {
    const load = new JudgedLoad(this.codec, size);
    for (let appends = await load.next(appendsAtOnce); appends.length > 0; appends = await load.next(appendsAtOnce)) {
      for (const outcome of await this.log.appendMany(appends)) if ('error' in outcome) throw outcome.error;
    }
  }
}
