import { setTimeout as sleep } from 'node:timers/promises';
import { renewLease } from './checkpoint.js';
import type { EngineSettings } from './options.js';

/**
 * The owner's sign of life. It keeps two services from taking the projections from each other; that a second owner could
 * never do harm is the fenced checkpoint's business.
 */
export class Lease {
  private readonly ending = new AbortController();
  private renewing: Promise<void> | undefined;

  constructor(
    private readonly settings: Pick<EngineSettings, 'database' | 'leaseMs'>,
    private readonly epoch: bigint,
  ) {}

  start(): void {
    if (this.settings.leaseMs > 0) this.renewing = this.renew();
  }

  /** The next owner need not wait: this one has ended. */
  async end(): Promise<void> {
    this.ending.abort();
    await this.renewing;
    if (this.settings.leaseMs > 0) await this.say(0);
  }

  private async renew(): Promise<void> {
    // Three times in a lease: one that is late does not lose it.
    const pause = this.settings.leaseMs / 3;
    for (;;) {
      await sleep(pause, undefined, { signal: this.ending.signal }).catch(() => undefined);
      if (this.ending.signal.aborted) return;
      await this.say(this.settings.leaseMs);
    }
  }

  /** A database that is away cannot be told; nor can it be asked by another who would take over. */
  private async say(leaseMs: number): Promise<void> {
    const { database } = this.settings;
    await database.as('mneme_projector', (queries) => renewLease(queries, this.epoch, leaseMs)).catch(() => false);
  }
}
