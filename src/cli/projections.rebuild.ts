import { SingleBar } from 'cli-progress';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from './client.js';
import { CliFailure, exitCodes, interrupted } from './failure.js';
import type { Output } from './output.js';
import { type Build, type BuildName, pathOfProjections, type Projection } from './projections.answers.js';
import { etaText } from './projections.text.js';

/** Between two looks at a rebuild, milliseconds. */
const lookMs = 200;
/** Looks in a row that find neither the rebuild nor its end: the service was stopped in the middle of it. */
const mostIdleLooks = 50;

export interface Followed extends BuildName {
  readonly name: string;
  readonly hold: boolean;
}

/** Looks until the build serves, or is ready where it is held. @throws CliFailure with the reason when the rebuild fails */
export async function rebuildFollowed(
  client: Client,
  order: Followed,
  bar: ProgressBar,
  signal: AbortSignal,
): Promise<Projection> {
  try {
    for (let idleLooks = 0; idleLooks < mostIdleLooks; idleLooks += 1) {
      const now = await look(client, order.name);
      const build = now.builds.find(({ version, build: number }) => version === order.version && number === order.build);
      const outcome = outcomeOf(now, build, order);
      if (outcome instanceof CliFailure) throw outcome;
      if (outcome === 'done') return now;
      if (build?.state === 'building') {
        idleLooks = 0;
        bar.show(build, now.head);
      }
      await pause(lookMs, undefined, { signal }).catch(() => {
        throw interrupted();
      });
    }
    throw rebuildFailed(order.name, 'the service no longer knows of it');
  } finally {
    bar.stop();
  }
}

async function look(client: Client, name: string): Promise<Projection> {
  const { body } = await client.get<{ items: Projection[] }>(pathOfProjections);
  const now = body.items.find((projection) => projection.name === name);
  if (!now) throw new CliFailure(exitCodes.failed, 'projection_unknown', 'the projection is gone', { field: name });
  return now;
}

function outcomeOf(
  { rebuild_error }: Projection,
  build: Build | undefined,
  { name, hold }: Followed,
): 'done' | 'goes on' | CliFailure {
  if (build?.state === 'stopped') return rebuildFailed(name, build.last_error ?? 'it stands still');
  if (rebuild_error === 'rebuild_differs') return rebuildDiffers(name);
  if (rebuild_error !== null) return rebuildFailed(name, rebuild_error);
  const done = build && (hold ? build.state !== 'building' && build.state !== 'catching_up' : build.role === 'serving');
  return done && build.state !== 'building' ? 'done' : 'goes on';
}

const rebuildFailed = (field: string, reason: string) => new CliFailure(exitCodes.failed, 'rebuild_failed', reason, { field });

const rebuildDiffers = (field: string) =>
  new CliFailure(
    exitCodes.failed,
    'rebuild_differs',
    'the new build is ready, but holds other rows than the one that serves: see mneme projections verify, then switch or drop it',
    { field },
  );

export interface ProgressBar {
  show(build: Build, head: number): void;
  stop(): void;
}

const silent: ProgressBar = { show: () => undefined, stop: () => undefined };

/** On a terminal only: in a log file every step of a bar would be another line. */
export function progressBar(output: Output, name: string): ProgressBar {
  if (!output.animated) return silent;
  const bar = new SingleBar({
    format: `${name} {bar} {percentage} % | {value}/{total} | {rate} events/s | {left} left`,
    stream: output.stderr as NodeJS.WritableStream,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(1, 0, { rate: 0, left: '-' });
  return {
    show: ({ position, rate, eta_seconds }, head) => {
      bar.setTotal(Math.max(head + 1, 1));
      bar.update(position + 1, { rate: rate.toFixed(0), left: etaText(eta_seconds) });
    },
    stop: () => bar.stop(),
  };
}
