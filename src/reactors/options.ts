import type { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { DelayBounds } from '../backoff.js';
import type { Clock } from '../config/clock.js';
import type { Database } from '../database/database.js';
import type { Codec } from '../event-log/codec.js';
import type { EventLog } from '../event-log/event-log.js';
import type { Streams } from '../event-log/streams.js';
import type { Reactor } from './reactor.js';
import type { ReactorObserver } from './status.js';

export interface ReactorLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface ReactorsOptions {
  readonly database: Database;
  readonly log: EventLog;
  readonly codec: Pick<Codec, 'decode' | 'streamPrefix'>;
  readonly streams: Streams;
  readonly readModels: Pick<ProjectionEngine, 'waitFor'>;
  readonly logId: string;
  readonly reactors: readonly Reactor[];
  /** Says when timers are due. */
  readonly clock: Clock;
  readonly logger?: ReactorLogger;
  readonly observer?: ReactorObserver;
  /** Shortest and longest wait before the timers are looked at again while none is due; default 250 ms and 5 s. */
  readonly idleMs?: DelayBounds;
  /** How often a process that stands by looks whether it is elected now, milliseconds; default 1,000. */
  readonly standbyMs?: number;
}

export type ReactorSettings = ReactorsOptions & Required<Pick<ReactorsOptions, 'logger' | 'idleMs' | 'standbyMs'>>;

const silent: ReactorLogger = { info: () => undefined, warn: () => undefined, error: () => undefined };

const reactorName = /^[a-z][a-z0-9_]{0,59}$/;

/** @throws Error when two reactors have one name, or a name is not lower-case snake case */
export function reactorSettings(options: ReactorsOptions): ReactorSettings {
  const names = options.reactors.map(({ name }) => name);
  for (const name of names)
    if (!reactorName.test(name)) throw new Error(`${name} is no name for a reactor: lower-case snake case`);
  if (new Set(names).size < names.length) throw new Error('two reactors have one name');
  return { logger: silent, idleMs: { first: 250, longest: 5_000 }, standbyMs: 1_000, ...options };
}
