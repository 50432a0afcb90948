import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { Configuration } from '../../config/configuration.js';
import { isDatabaseUnavailable } from '../../database/errors.js';
import { errorFacts } from '../../error-facts.js';
import { JsonLogger } from '../json-logger.js';
import { CommandTable } from './command-table.js';

/** How often receipts are pruned, milliseconds. */
const everyMs = 600_000;
/** Most rows that one statement deletes: the embedded database serves nobody else meanwhile. */
const batchRows = 1_000;

/** Deletes receipts that are older than `MNEME_RECEIPT_RETENTION_DAYS`, at the start and every ten minutes. */
@Injectable()
export class ReceiptPruner implements OnApplicationBootstrap, OnApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(
    private readonly table: CommandTable,
    private readonly configuration: Configuration,
    private readonly logger: JsonLogger,
  ) {}

  onApplicationBootstrap(): void {
    if (this.configuration.receiptRetentionDays === 0) return;
    this.running = this.attempt();
    this.timer = setInterval(() => {
      this.running = this.running.then(() => this.attempt());
    }, everyMs).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.stopped = true;
    await this.running;
  }

  /** @returns how many receipts were deleted */
  async prune(): Promise<number> {
    let deleted = 0;
    // A service that stops gives up between two batches: the rest is found by the next one.
    for (let last = batchRows; last === batchRows && !(this.stopped && deleted > 0); deleted += last) {
      last = await this.table.deleteOlderThan(this.configuration.receiptRetentionDays, batchRows);
    }
    return deleted;
  }

  /** What fails is tried again in ten minutes: old receipts do no harm. */
  private async attempt(): Promise<void> {
    try {
      await this.prune();
    } catch (error) {
      if (!isDatabaseUnavailable(error)) this.logger.records.error(errorFacts(error), 'pruning receipts failed');
    }
  }
}
