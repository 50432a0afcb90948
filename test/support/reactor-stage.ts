import { setTimeout as sleep } from 'node:timers/promises';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import { Database, type Queries, type Role } from '../../src/database/database.js';
import { DatabaseUnavailable } from '../../src/database/errors.js';
import { DataKeys } from '../../src/encryption/data-keys.js';
import { MasterKey } from '../../src/encryption/master-key.js';
import { Codec } from '../../src/event-log/codec.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { executeCommand } from '../../src/event-log/execute.js';
import { newCommandId } from '../../src/event-log/ids.js';
import { PostgresEventLog } from '../../src/event-log/postgres/postgres-event-log.js';
import type { StreamId } from '../../src/event-log/stream-name.js';
import { Streams } from '../../src/event-log/streams.js';
import type { ReactorsOptions } from '../../src/reactors/options.js';
import type { Reactor } from '../../src/reactors/reactor.js';
import { Reactors } from '../../src/reactors/reactors.js';
import type { OrderOutcome } from '../../src/reactors/status.js';
import { TestClock } from './clock.js';
import { freshDatabase } from './database.js';
import { FaultyLog } from './faulty-log.js';
import { letterCatalogue, type LetterEvent } from './letters.js';

/**
 * What happens to the next transaction in which a reactor writes:
 * - `lost`: the connection breaks before the commit
 * - `lost_answer`: it is committed, and the writer cannot know
 */
export type WriteFault = 'lost' | 'lost_answer';

/** A real database behind a bad connection. */
export class ReactorDatabase extends Database {
  private readonly faults: WriteFault[] = [];

  next(...faults: WriteFault[]): void {
    this.faults.push(...faults);
  }

  /** From now on all is well. */
  forgive(): void {
    this.faults.length = 0;
  }

  override async as<T>(
    role: Exclude<Role, 'mneme_app'>,
    work: (queries: Queries) => Promise<T>,
    options: { snapshot?: boolean } = {},
  ): Promise<T> {
    const met: { fault?: WriteFault | undefined } = {};
    const result = await super.as(
      role,
      async (queries) => {
        let writes = false;
        const execute: Queries['execute'] = (sql, values) => {
          writes ||= sql.includes('mneme.due_timers');
          return queries.execute(sql, values);
        };
        const done = await work({ ...queries, execute });
        if (writes as boolean) met.fault = this.faults.shift();
        if (met.fault === 'lost') throw new DatabaseUnavailable('08006');
        return done;
      },
      options,
    );
    if (met.fault === 'lost_answer') throw new DatabaseUnavailable(undefined);
    return result;
  }
}

export const stageLogId = '00000000-0000-4000-8000-0000000000aa';

/** Letters in a real log and database, with reactors that are stopped at the end. */
export class ReactorStage {
  readonly clock = new TestClock();
  readonly outcomes: [reactor: string, outcome: OrderOutcome][] = [];
  readonly warnings: object[] = [];
  private readonly running: { stop(): Promise<void> }[] = [];

  private constructor(
    readonly database: ReactorDatabase,
    private readonly postgres: PostgresEventLog,
    readonly log: FaultyLog,
    readonly codec: Codec,
    readonly engine: ProjectionEngine,
  ) {}

  static async open(): Promise<ReactorStage> {
    const fresh = await freshDatabase();
    const { url, embedded } = fresh;
    await fresh.close();
    const database = new ReactorDatabase(url, embedded, 10);
    const postgres = new PostgresEventLog(database, { pollMs: 5 });
    const log = new FaultyLog(postgres);
    const codec = new Codec(letterCatalogue, new DataKeys(database, new MasterKey(Buffer.alloc(32, 1))), 'mneme_');
    const engine = new ProjectionEngine({ database, log: postgres, codec, logId: stageLogId, projections: [] });
    await engine.start();
    return new ReactorStage(database, postgres, log, codec, engine);
  }

  reactors(list: readonly Reactor[], options: Partial<ReactorsOptions> = {}): Reactors {
    const { database, log, codec, engine, clock } = this;
    const made = new Reactors({
      database,
      log,
      codec,
      streams: new Streams(log, codec),
      readModels: engine,
      logId: stageLogId,
      reactors: list,
      clock,
      idleMs: { first: 5, longest: 20 },
      standbyMs: 20,
      observer: { ran: (reactor, outcome) => void this.outcomes.push([reactor, outcome]) },
      logger: {
        info: () => undefined,
        warn: (fields) => void this.warnings.push(fields),
        error: (fields) => void this.warnings.push(fields),
      },
      ...options,
    });
    this.running.push(made);
    return made;
  }

  async started(list: readonly Reactor[], options: Partial<ReactorsOptions> = {}): Promise<Reactors> {
    const made = this.reactors(list, options);
    await made.start();
    return made;
  }

  /** @returns its position */
  async write(stream: StreamId, event: LetterEvent, causationDepth = 0): Promise<bigint> {
    const context = { commandId: newCommandId(), correlationId: 'letters', team: stream.team, causationDepth };
    const streams = new Streams(this.postgres, this.codec);
    return (await executeCommand<LetterEvent>(streams, { stream, context, decide: () => [event] })).position;
  }

  async events(): Promise<RecordedEvent<LetterEvent>[]> {
    const stored = [];
    for await (const event of this.log.readAll({ after: -1n, prefix: 'mneme_' })) stored.push(event);
    return this.codec.decode<LetterEvent>(stored);
  }

  async of<Type extends LetterEvent['type']>(type: Type): Promise<Extract<LetterEvent, { type: Type }>[]> {
    return (await this.events()).flatMap(({ data }) =>
      data.type === type ? [data as Extract<LetterEvent, { type: Type }>] : [],
    );
  }

  timers(): Promise<{ key: string; due: Date }[]> {
    return this.database.query('SELECT key, due_at AS due FROM mneme.due_timers ORDER BY key');
  }

  /** Until nothing is left to react to, and no timer is due. */
  async settled(reactors: Reactors): Promise<void> {
    await until(async () => {
      reactors.wake();
      const statuses = await reactors.status();
      if (statuses.every(({ state }) => state === 'stopped')) return true;
      const due = await this.database.query('SELECT FROM mneme.due_timers WHERE due_at <= $1 LIMIT 1', [this.clock.now()]);
      return due.length === 0 && statuses.every(({ state }) => state !== 'catching_up');
    });
  }

  async close(): Promise<void> {
    for (const each of this.running) await each.stop();
    await this.engine.stop();
    await this.postgres.close();
    await this.database.close();
  }
}

export async function until(holds: () => boolean | Promise<boolean>, longestMs = 15_000): Promise<void> {
  const deadline = performance.now() + longestMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error('it never came about');
    await sleep(5);
  }
}
