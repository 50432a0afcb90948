import { Counter, Gauge, type Registry } from 'prom-client';
import type { OrderOutcome, ReactorObserver, ReactorStatus } from '../reactors/status.js';

/** What is told of reactors. */
export class ReactorMetrics implements ReactorObserver {
  private readonly commands: Counter<'reactor' | 'outcome'>;
  private readonly position: Gauge<'reactor'>;
  private readonly lagPositions: Gauge<'reactor'>;
  private readonly lagSeconds: Gauge<'reactor'>;
  private readonly stopped: Gauge<'reactor'>;
  private readonly timers: Gauge<'reactor'>;
  private readonly overdue: Gauge<'reactor'>;

  constructor(registry: Registry) {
    const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames: ['reactor'], registers: [registry] });
    this.commands = new Counter({
      name: 'mneme_reactor_commands_total',
      help: 'Commands of reactors, by outcome: appended, repeated, unchanged, refused, or dropped as the end of too long a chain.',
      labelNames: ['reactor', 'outcome'],
      registers: [registry],
    });
    this.position = gauge('mneme_reactor_position', 'Last position reacted to.');
    this.lagPositions = gauge('mneme_reactor_lag_positions', 'Positions behind the head.');
    this.lagSeconds = gauge('mneme_reactor_lag_seconds', 'Age of the oldest event not reacted to.');
    this.stopped = gauge('mneme_reactor_stopped', 'Whether it stopped at an event or a timer: 1 or 0.');
    this.timers = gauge('mneme_reactor_timers', 'Timers that are set.');
    this.overdue = gauge('mneme_reactor_timer_overdue_seconds', 'How long the oldest timer has been due; 0 when none is.');
  }

  ran(reactor: string, outcome: OrderOutcome): void {
    this.commands.inc({ reactor, outcome });
  }

  show({ name: reactor, state, position, lag, timers }: ReactorStatus): void {
    this.position.set({ reactor }, Number(position));
    this.lagPositions.set({ reactor }, Number(lag.positions));
    this.lagSeconds.set({ reactor }, lag.seconds);
    this.stopped.set({ reactor }, state === 'stopped' ? 1 : 0);
    this.timers.set({ reactor }, timers.set);
    this.overdue.set({ reactor }, timers.overdueSeconds);
  }
}
