import type { Database } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { EventLog, StoredEvent } from '../../src/event-log/event-log.js';
import type { Filler } from './builds.js';
import { Declared } from './declared.js';
import { noOperations, type OperationLog } from './operation-log.js';
import type { Projection } from './projection.js';

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
  /** Several versions of one projection may be here: each that has a build is projected. */
  readonly projections: readonly Projection[];
  /** Left out where nobody operates: no switch is written down then, and no event skipped. */
  readonly operations?: OperationLog;
  readonly logger?: EngineLogger;
  /** Most events of one transaction; default 500. */
  readonly batchEvents?: number;
  /** Longest wait for more events before a batch is applied, milliseconds; default 50. */
  readonly batchMs?: number;
  /**
   * How long an owner that says nothing is taken to be alive, milliseconds. A process that starts beside a living owner
   * stands by, and takes over when the owner ends or falls silent. Default 0: whoever starts takes over at once, for the
   * embedded database, whose folder is locked, and whose owner is therefore dead.
   */
  readonly leaseMs?: number;
  /** How long a process that replays a build and says nothing is taken to be alive, milliseconds; default 10,000. */
  readonly fillLeaseMs?: number;
  /** How often the owner looks for what a process that ended left undone, milliseconds; default 5,000. */
  readonly tendMs?: number;
  /** Vectors of this contract are copied from the cache into new rows; none are without it. */
  readonly embeddingContract?: string;
  /** Called after each batch that was committed. */
  readonly onBatch?: () => void;
}

/** The options with their defaults, and what the code projects. */
export interface EngineSettings extends Required<Omit<ProjectionEngineOptions, 'embeddingContract' | 'projections'>> {
  readonly embeddingContract: string | undefined;
  readonly projections: Declared;
}

/** Of one transaction of a rebuild, which nobody waits for. */
export const rebuildBatchEvents = 2000;

export const fillerOf = ({ fillLeaseMs }: EngineSettings, id: string): Filler => ({ id, leaseMs: fillLeaseMs });

/** @throws Error when declarations contradict each other, see `Declared` */
export const engineSettings = (options: ProjectionEngineOptions): EngineSettings => ({
  logger: silent,
  batchEvents: 500,
  batchMs: 50,
  leaseMs: 0,
  fillLeaseMs: 10_000,
  tendMs: 5_000,
  onBatch: () => undefined,
  embeddingContract: undefined,
  operations: noOperations,
  ...options,
  projections: new Declared(options.projections),
});

const silent: EngineLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
