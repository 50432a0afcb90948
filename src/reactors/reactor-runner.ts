import { describeError } from '../../projections/engine/failures.js';
import { LogBatches } from '../../projections/engine/log-batches.js';
import { Bell, Gate } from '../../projections/engine/pacing.js';
import { Backoff, growingDelay } from '../backoff.js';
import { errorFacts } from '../error-facts.js';
import { CheckpointMoved, isPassing, Poison, Superseded } from './failures.js';
import type { ReactorSettings } from './options.js';
import { OwnedReactor } from './owned-reactor.js';
import type { Reactor } from './reactor.js';
import { stopReactor, takeReactor } from './reactor-rows.js';

/** Between attempts while something is down. */
const outagePauses = { first: 100, longest: 5_000 };
/** Most events of one batch, and the longest wait for more of them while stored ones are read, milliseconds. */
const batchEvents = 500;
const batchMs = 20;

/**
 * Runs one reactor for ever: while this process is elected it owns the reactor, follows the log and looks at the timers,
 * else it stands by. Two owners at once may happen, when one does not know yet that it is none any more, and do no harm: the
 * earlier one cannot write, and what both append is the same.
 */
export class ReactorRunner {
  private readonly stopping = new AbortController();
  private readonly bell = new Bell();
  private running: Promise<void> | undefined;
  private owned: OwnedReactor | undefined;
  /** Why something does not move, by what it is: each clears its own only. */
  private readonly troubles = new Map<Activity, string>();

  constructor(
    private readonly settings: ReactorSettings,
    private readonly reactor: Reactor,
  ) {}

  /** @param elected whether this process is the one that reacts; asked again and again */
  start(elected: () => boolean): void {
    this.running = this.run(elected);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    this.bell.ring();
    await this.running;
  }

  /** Look at the timers now: the clock was moved. */
  wake(): void {
    this.bell.ring();
  }

  /** As far as this process knows better than what is stored; undefined while it stands by. */
  get position(): bigint | undefined {
    return this.owned?.position;
  }

  /** Why nothing moves; undefined while all is well. */
  get lastTrouble(): string | undefined {
    return [...this.troubles.values()][0];
  }

  private async run(elected: () => boolean): Promise<void> {
    const { signal } = this.stopping;
    const backoff = new Backoff(outagePauses);
    while (!signal.aborted) {
      try {
        if (elected()) await this.own(elected);
        // Also after another took it: two that both take themselves for elected must not snatch it from each other without a pause.
        this.recovered('taking', backoff);
        await this.bell.next(this.bell.rings, this.settings.standbyMs, signal);
      } catch (error) {
        await this.pause('taking', error, backoff, signal);
      }
    }
  }

  /** Until the process stops, is no longer elected, or another takes over. @throws passing trouble of taking it */
  private async own(elected: () => boolean): Promise<void> {
    const { settings, reactor } = this;
    const ownership = await settings.database.as('mneme_system', (queries) => takeReactor(queries, reactor.name, settings.logId));
    const ended = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, ended.signal]);
    const owned = new OwnedReactor(settings, reactor, ownership, signal);
    this.owned = owned;
    const gate = new Gate();
    // One at a time: a timer that an event sets must not be overwritten by what was decided without knowing the event.
    const pass = <T>(work: () => Promise<T>) =>
      gate.pass(() => {
        if (!elected()) throw new Superseded();
        return work();
      });
    const endingBoth = async (work: Promise<void>) => work.finally(() => ended.abort());
    const ends = await Promise.allSettled([
      endingBoth(this.keepTrying('events', signal, (worked) => this.follow(owned, pass, signal, worked))),
      endingBoth(this.keepTrying('timers', signal, (worked) => this.watchTimers(owned, pass, signal, worked))),
    ]);
    this.owned = undefined;
    this.troubles.clear();
    for (const end of ends) {
      if (end.status === 'rejected' && end.reason instanceof Poison) await this.standStill(owned.epoch, end.reason, elected);
    }
  }

  /** Trouble that passes is tried again for ever. @throws Poison, Superseded */
  private async keepTrying(activity: Activity, signal: AbortSignal, work: (worked: () => void) => Promise<void>): Promise<void> {
    const backoff = new Backoff(outagePauses);
    while (!signal.aborted) {
      try {
        await work(() => this.recovered(activity, backoff));
      } catch (error) {
        if (isAborted(signal)) return;
        if (error instanceof Poison || error instanceof Superseded) throw error;
        await this.pause(activity, error, backoff, signal);
      }
    }
  }

  private async follow(owned: OwnedReactor, pass: Pass, signal: AbortSignal, worked: () => void): Promise<never> {
    const { log, codec } = this.settings;
    const after = await pass(() => owned.resume());
    const ended = new AbortController();
    const either = AbortSignal.any([signal, ended.signal]);
    const batches = new LogBatches(log.subscribe({ after, prefix: codec.streamPrefix, signal: either }), batchMs);
    try {
      for (;;) {
        const batch = await batches.next(batchEvents);
        const { changed } = await pass(() => owned.handleEvents(batch));
        if (changed) this.bell.ring();
        worked();
      }
    } finally {
      ended.abort();
      await batches.close();
    }
  }

  private async watchTimers(owned: OwnedReactor, pass: Pass, signal: AbortSignal, worked: () => void): Promise<void> {
    const { idleMs, clock } = this.settings;
    for (let idle = 1; !signal.aborted; idle += 1) {
      const { rings } = this.bell;
      const { fired, next } = await pass(() => owned.handleTimers());
      worked();
      if (fired > 0) {
        idle = 0;
        continue;
      }
      const untilDue = next ? Math.max(0, next.getTime() - clock.now().getTime()) : Infinity;
      await this.bell.next(rings, Math.min(growingDelay(idle, idleMs), untilDue), signal);
      if (this.bell.rings > rings) idle = 0;
    }
  }

  /** It keeps the reactor, so that no other process meets the same event; whoever takes it over tries again. */
  private async standStill(epoch: bigint, { reason }: Poison, elected: () => boolean): Promise<void> {
    const { settings, reactor } = this;
    settings.logger.error({ reactor: reactor.name, error: reason }, 'a reactor stopped');
    const store = () =>
      settings.database
        .as('mneme_system', (queries) => stopReactor(queries, reactor.name, epoch, reason))
        .then(() => true)
        .catch(() => false);
    let stored = false;
    while (!this.stopping.signal.aborted && elected()) {
      stored ||= await store();
      await this.bell.next(this.bell.rings, settings.standbyMs, this.stopping.signal);
    }
  }

  private async pause(activity: Activity, error: unknown, backoff: Backoff, signal: AbortSignal): Promise<void> {
    // A commit whose answer was lost: the checkpoint is read again, and nothing is wrong.
    if (error instanceof CheckpointMoved) return backoff.pause(signal);
    const reason = describeError(error);
    this.troubles.set(activity, reason);
    const fields = { reactor: this.reactor.name, error: reason };
    if (isPassing(error)) this.settings.logger.warn(fields, 'a reactor pauses and tries again');
    else this.settings.logger.error({ ...fields, ...errorFacts(error) }, 'a reactor pauses and tries again');
    await backoff.pause(signal);
  }

  private recovered(activity: Activity, backoff: Backoff): void {
    backoff.reset();
    if (this.troubles.delete(activity)) this.settings.logger.info({ reactor: this.reactor.name }, 'a reactor goes on');
  }
}

type Activity = 'taking' | 'events' | 'timers';

/** Read anew after every await, which the compiler's narrowing does not know. */
const isAborted = (signal: AbortSignal): boolean => signal.aborted;

type Pass = <T>(work: () => Promise<T>) => Promise<T>;
