import { LogMismatch } from '../../projections/engine/errors.js';
import { countTimers } from './due-timers.js';
import { type ReactorsOptions, type ReactorSettings, reactorSettings } from './options.js';
import { readReactors } from './reactor-rows.js';
import { ReactorRunner } from './reactor-runner.js';
import type { ReactorStatus } from './status.js';

const beginAnew = 'let them begin anew with: DELETE FROM mneme.due_timers; DELETE FROM mneme.reactors';

/** All reactors of a process. */
export class Reactors {
  private readonly settings: ReactorSettings;
  private readonly runners: ReadonlyMap<string, ReactorRunner>;

  constructor(options: ReactorsOptions) {
    const settings = reactorSettings(options);
    this.settings = settings;
    this.runners = new Map(settings.reactors.map((reactor) => [reactor.name, new ReactorRunner(settings, reactor)]));
  }

  /**
   * @param elected whether this process is the one that reacts, of all that use this database; asked again and again
   * @throws LogMismatch when a checkpoint belongs to another log, or lies beyond the head of this one; LogUnavailable,
   *   DatabaseUnavailable when start-up finds them down
   */
  async start(elected: () => boolean = () => true): Promise<void> {
    await this.checkLog();
    for (const runner of this.runners.values()) runner.start(elected);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.runners.values()].map((runner) => runner.stop()));
  }

  /** Look at the timers now: the clock was moved. */
  wake(): void {
    for (const runner of this.runners.values()) runner.wake();
  }

  /** Of all reactors, whichever process runs them. @throws LogUnavailable, DatabaseUnavailable */
  async status(): Promise<ReactorStatus[]> {
    const { database, log, clock } = this.settings;
    const { rows, counts } = await database.as('mneme_system', async (queries) => ({
      rows: await readReactors(queries),
      counts: await countTimers(queries),
    }));
    const head = await log.head();
    const now = clock.now().getTime();
    const ages = new Map<bigint, number | undefined>();
    const statuses: ReactorStatus[] = [];
    for (const [name, runner] of this.runners) {
      const row = rows.find((each) => each.name === name);
      const position = runner.position ?? row?.position ?? -1n;
      if (!ages.has(position)) ages.set(position, position < head ? await this.ageAfter(position) : undefined);
      const seconds = ages.get(position);
      const timers = counts.find(({ reactor }) => reactor === name);
      const stoppedBy = row?.lastError ?? null;
      statuses.push({
        name,
        state: stoppedBy !== null ? 'stopped' : seconds === undefined ? 'caught_up' : 'catching_up',
        position,
        head,
        lag: { positions: seconds === undefined ? 0n : head - position, seconds: seconds ?? 0 },
        timers: {
          set: Number(timers?.set ?? 0n),
          overdueSeconds: timers ? Math.max(0, (now - timers.earliest.getTime()) / 1000) : 0,
        },
        lastError: stoppedBy ?? runner.lastTrouble ?? null,
      });
    }
    return statuses;
  }

  /** Seconds since the log learned the first event of ours after a position; undefined when there is none. */
  private async ageAfter(position: bigint): Promise<number | undefined> {
    const { log, codec } = this.settings;
    for await (const { recordedAt } of log.readAll({ after: position, prefix: codec.streamPrefix }))
      return Math.max(0, (Date.now() - recordedAt.getTime()) / 1000);
    return undefined;
  }

  private async checkLog(): Promise<void> {
    const { database, log, logId } = this.settings;
    const rows = await database.as('mneme_system', readReactors);
    // The head after the positions: the other way round, another process could move a position past a head read before.
    const head = await log.head();
    for (const { name, logId: followed, position } of rows) {
      if (followed !== logId)
        throw new LogMismatch(
          `the reactor ${name} follows the event log ${followed}, but this one is ${logId}: connect the database that belongs to ` +
            `the log, or ${beginAnew}`,
        );
      if (position > head)
        throw new LogMismatch(
          `the reactor ${name} stands at position ${position}, but the event log ends at ${head}: it was restored to an earlier ` +
            `moment. Restore the database to that moment too, or ${beginAnew}`,
        );
    }
  }
}
