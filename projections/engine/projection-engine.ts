import type { Database } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { EventLog, StoredEvent } from '../../src/event-log/event-log.js';
import { ProjectionUnknown } from './errors.js';
import type { Projection } from './projection.js';
import type { ProjectionStatus, RebuildProgress } from './status.js';

/** What the engine needs of the codec. */
export interface EventDecoder {
  readonly streamPrefix: string;
  /** @throws an error with the code `key_unavailable` when a data key cannot be had now */
  decode(events: readonly StoredEvent[], options?: { content?: boolean }): Promise<RecordedEvent[]>;
}

export interface EngineLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ProjectionEngineOptions {
  readonly database: Database;
  readonly log: EventLog;
  readonly codec: EventDecoder;
  readonly logId: string;
  readonly projections: readonly Projection[];
  readonly logger?: EngineLogger;
  /** Most events of one transaction; default 500. */
  readonly batchEvents?: number;
  /** Longest wait for more events before a batch is applied, milliseconds; default 50. */
  readonly batchMs?: number;
  /** Vectors of this contract are copied from the cache into new rows; none are without it. */
  readonly embeddingContract?: string;
  /** Called after each batch that was committed. */
  readonly onBatch?: () => void;
}

/** Keeps the read models level with the log: one group of projections, one transaction and one checkpoint a batch. */
export class ProjectionEngine {
  constructor(private readonly options: ProjectionEngineOptions) {}

  /**
   * Makes missing schemas, takes ownership of the group, builds new versions and starts applying events.
   *
   * @throws LogMismatch when the checkpoints belong to another log or lie beyond its head
   */
  async start(): Promise<void> {
    await this.options.log.head();
  }

  /** Ends after the batch at hand. */
  async stop(): Promise<void> {
    await Promise.resolve();
  }

  async status(): Promise<ProjectionStatus[]> {
    return Promise.resolve([]);
  }

  /**
   * Builds the projection anew from event 0 beside the one that serves, then switches in one transaction.
   *
   * @throws ProjectionUnknown, RebuildRunning, RebuildFailed
   */
  async rebuild(name: string, onProgress?: (progress: RebuildProgress) => void): Promise<void> {
    onProgress?.({ projection: name, position: -1n, head: await this.options.log.head(), events: 0, rate: 0 });
    throw new ProjectionUnknown(name);
  }

  /**
   * Waits until the group has applied `position`, or for `timeoutMs`.
   *
   * @param projections names that the read depends on: a stopped one counts with its own position
   */
  async waitFor(
    position: bigint,
    timeoutMs: number,
    projections: readonly string[],
    signal?: AbortSignal,
  ): Promise<{ reached: boolean; position: bigint }> {
    return Promise.resolve({ reached: timeoutMs < 0 && projections.length < 0 && !!signal, position });
  }
}
