import { LogMismatch } from '../../projections/engine/errors.js';
import { Backoff } from '../backoff.js';
import type { Database } from '../database/database.js';
import { isDatabaseUnavailable } from '../database/errors.js';
import { isLogUnavailable } from '../event-log/errors.js';
import type { EventLog, LogItem } from '../event-log/event-log.js';
import { parseStreamName } from '../event-log/stream-name.js';
import { errorFacts } from '../error-facts.js';
import type { KeyDestroyer } from './key-destroyer.js';

export interface ErasureConsumerOptions {
  readonly database: Database;
  readonly log: EventLog;
  readonly logId: string;
  readonly streamPrefix: string;
  readonly keyDestroyer: KeyDestroyer;
  readonly logger?: { error(fields: object, message: string): void };
}

const consumer = 'key_destruction';
/** Safe whatever happened: destroying a key again changes nothing. */
const beginAnew = `let it begin anew with: DELETE FROM mneme.consumers WHERE name = '${consumer}'`;
/** Events without an erasure are cheap to read again after a crash, so their checkpoint is written now and then only. */
const eventsPerCheckpoint = 1_000;
/** Between attempts while the log or the database is down. */
const outagePauses = { first: 100, longest: 5_000 };

/**
 * Destroys the key of every erased memory, with a checkpoint of its own in the key database. The command destroys it too, at
 * once; this consumer completes what a crash cut short and, after a restore of older keys, destroys them again. Until it is
 * level with the log as it was at start-up, the service is not ready: it might show what was erased.
 */
export class ErasureConsumer {
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private position = -1n;
  private target = 0n;

  constructor(private readonly options: ErasureConsumerOptions) {}

  /**
   * @throws LogMismatch when the checkpoint belongs to another log, or lies beyond the head of this one
   * @throws LogUnavailable, DatabaseUnavailable when start-up finds them down
   */
  async start(): Promise<void> {
    this.position = await this.readCheckpoint();
    // The head after the position: the other way round, another process could move the position past a head read before.
    this.target = await this.options.log.head();
    if (this.position > this.target)
      throw new LogMismatch(
        `the destruction of keys stands at position ${this.position}, but the event log ends at ${this.target}: it was restored ` +
          `to an earlier moment. Restore the database to that moment too, or ${beginAnew}`,
      );
    this.running = this.consumeForEver();
  }

  /** Whether every memory erased before start-up has lost its key. */
  get level(): boolean {
    return this.position >= this.target;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async consumeForEver(): Promise<void> {
    const backoff = new Backoff(outagePauses);
    while (!this.stopping.signal.aborted) {
      try {
        await this.consume(() => backoff.reset());
      } catch (error) {
        if (!isLogUnavailable(error) && !isDatabaseUnavailable(error))
          this.options.logger?.error(errorFacts(error), 'destroying keys failed');
        await backoff.pause(this.stopping.signal);
      }
    }
  }

  private async consume(onProgress: () => void): Promise<void> {
    let sinceCheckpoint = 0;
    const { log, streamPrefix: prefix } = this.options;
    for await (const item of log.subscribe({ after: this.position, prefix, signal: this.stopping.signal })) {
      sinceCheckpoint += 1;
      const erased = await this.handle(item);
      this.position = item.kind === 'event' ? item.event.position : item.position;
      if (erased || item.kind !== 'event' || sinceCheckpoint >= eventsPerCheckpoint) {
        await this.writeCheckpoint();
        sinceCheckpoint = 0;
      }
      onProgress();
    }
  }

  private async handle(item: LogItem): Promise<boolean> {
    if (item.kind !== 'event' || !item.event.type.endsWith('Erased')) return false;
    const stream = parseStreamName(this.options.streamPrefix, item.event.stream);
    if (!stream) return false;
    await this.options.keyDestroyer.destroy(stream.team, stream.id);
    return true;
  }

  private async readCheckpoint(): Promise<bigint> {
    const { database, logId } = this.options;
    const [row] = await database.as('mneme_system', (queries) =>
      queries.query<{ log_id: string; position: bigint }>('SELECT log_id, position FROM mneme.consumers WHERE name = $1', [
        consumer,
      ]),
    );
    if (row && row.log_id !== logId)
      throw new LogMismatch(
        `the destruction of keys follows the event log ${row.log_id}, but this one is ${logId}: connect the database that ` +
          `belongs to the log, or ${beginAnew}`,
      );
    return row?.position ?? -1n;
  }

  /** Never backwards: another process of this installation may be further on. */
  private async writeCheckpoint(): Promise<void> {
    await this.options.database.as('mneme_system', (queries) =>
      queries.execute(
        `INSERT INTO mneme.consumers AS c (name, log_id, position) VALUES ($1, $2, $3)
         ON CONFLICT (name) DO UPDATE SET position = $3 WHERE c.log_id = $2 AND c.position < $3`,
        [consumer, this.options.logId, this.position],
      ),
    );
  }
}
