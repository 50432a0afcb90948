import { Injectable } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { firstPendingVector } from '../../projections/procedures/procedure-queries.js';
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
  ) {}

  /**
   * Waits until every vector up to the position is there, or waits for a retry.
   *
   * @returns undefined when they are, else the position up to which they were when patience was over
   */
  async missing(team: string, position: bigint, patienceMs: number, signal: AbortSignal): Promise<bigint | undefined> {
    const deadline = performance.now() + patienceMs;
    for (;;) {
      const first = await this.database.asTeam(team, (queries) => firstPendingVector(queries, { team, position }));
      if (first === undefined) return undefined;
      if (performance.now() >= deadline) return first - 1n;
      this.worker.wake();
      await sleep(pollMs, undefined, { signal });
    }
  }
}
