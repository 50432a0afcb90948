import type { Database } from '../../src/database/database.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { EventLog, StoredEvent } from '../../src/event-log/event-log.js';
import { historyName } from './table-sql.js';
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
  readonly projections: readonly Projection[];
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
  /** Vectors of this contract are copied from the cache into new rows; none are without it. */
  readonly embeddingContract?: string;
  /** Called after each batch that was committed. */
  readonly onBatch?: () => void;
}

/** The options with their defaults, and projections by name. */
export interface EngineSettings extends Required<Omit<ProjectionEngineOptions, 'embeddingContract' | 'projections'>> {
  readonly embeddingContract: string | undefined;
  readonly projections: ReadonlyMap<string, Projection>;
}

/** Of one transaction of a rebuild, which nobody waits for. */
export const rebuildBatchEvents = 2000;

const projectionName = /^[a-z][a-z0-9_]{0,39}$/;

/** @throws Error when two projections or two of their tables have one name, or a name cannot be part of a schema's */
export function engineSettings(options: ProjectionEngineOptions): EngineSettings {
  const projections = new Map<string, Projection>();
  const tables = new Set<string>();
  for (const projection of options.projections) {
    const { name, version } = projection;
    if (!projectionName.test(name))
      throw new Error(`${name} is no name for a projection: lower-case snake case, at most 40 characters`);
    if (!Number.isInteger(version) || version < 1) throw new Error(`the projection ${name} has version ${version}`);
    if (projections.has(name)) throw new Error(`two projections are named ${name}`);
    projections.set(name, projection);
    for (const table of projection.tables.flatMap(({ name, history }) => [name, ...(history ? [historyName(name)] : [])])) {
      if (tables.has(table)) throw new Error(`two tables are named ${table}`);
      tables.add(table);
    }
  }
  return {
    logger: silent,
    batchEvents: 500,
    batchMs: 50,
    leaseMs: 0,
    onBatch: () => undefined,
    embeddingContract: undefined,
    ...options,
    projections,
  };
}

const silent: EngineLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };
