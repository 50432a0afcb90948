import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { countPendingVectors } from '../../projections/procedures/procedure-queries.js';
import { Configuration } from '../config/configuration.js';
import { Database } from '../database/database.js';
import { EmbeddingWorker } from '../embedding/embedding-worker.js';

const pollMs = 20;

/**
 * A vector is made beside the read model's transaction, so a position that the read models have reached may still lack
 * some. A recall that names such a position waits for them too: it would otherwise miss what its caller just wrote.
 */
@Injectable()
export class PendingVectors {
  constructor(
    private readonly database: Database,
    private readonly worker: EmbeddingWorker,
    private readonly configuration: Configuration,
  ) {}

  /** Whether every vector up to the position is there, or waits for a retry, before the wait for read models is over. */
  async settled(team: string, position: bigint, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + this.configuration.minPositionWaitMs;
    for (;;) {
      const pending = await this.database.asTeam(team, (queries) => countPendingVectors(queries, { team, position }));
      if (pending === 0) return true;
      if (performance.now() >= deadline) return false;
      this.worker.wake();
      await sleep(pollMs, undefined, { signal });
    }
  }
}
