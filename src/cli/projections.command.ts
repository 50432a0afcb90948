import { SingleBar } from 'cli-progress';
import type { Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, pathOf } from './client.js';
import { CliFailure, exitCodes, interrupted } from './failure.js';
import { type Output, tableText } from './output.js';
import type { Shell } from './shell.js';

/** A read model as the service shows it. */
export interface Projection {
  readonly name: string;
  readonly version: number;
  readonly state: 'caught_up' | 'catching_up' | 'building' | 'stopped';
  readonly position: number;
  readonly head: number;
  readonly lag: { readonly positions: number; readonly seconds: number };
  readonly rate: number;
  readonly eta_seconds: number | null;
  readonly last_error: string | null;
  /** Number of the build that serves. */
  readonly build: number;
  readonly rebuild: { readonly position: number; readonly rate: number; readonly eta_seconds: number | null } | null;
  readonly rebuild_error: string | null;
}

/** Read models: status, rebuild. */
export function addProjections(program: Command, shell: Shell): void {
  const projections = program.command('projections').description('projections: the read models that are made from the log');

  projections
    .command('status')
    .description('where each read model stands')
    .action(() => shell.withService((client) => status(client, shell)));

  projections
    .command('rebuild')
    .description('build a read model anew from the log, beside the one that serves, then switch; waits for the end')
    .argument('<name>', 'name of the projection')
    .action((name: string) => shell.withService((client) => rebuild(client, shell, name)));
}

const path = '/v1/projections';

async function status(client: Client, { output }: Shell): Promise<void> {
  const { body } = await client.get<{ items: Projection[] }>(path);
  output.result(body, () => statusTable(body.items));
}

const right = 'right';
const left = 'left';

export const statusTable = (items: readonly Projection[]): string =>
  tableText(
    ['NAME', 'VERSION', 'STATE', 'POSITION', 'HEAD', 'LAG', 'EVENTS/S', 'ETA', 'LAST ERROR'],
    items.map(({ name, version, state, position, head, lag, rate, eta_seconds, last_error }) => [
      name,
      String(version),
      state,
      String(position),
      String(head),
      `${lag.seconds.toFixed(1)} s`,
      rate.toFixed(0),
      etaText(eta_seconds),
      last_error ?? '',
    ]),
    [left, right, left, right, right, right, right, right, left],
  );

/** `1 h 05 min`, `2 min 10 s`, `7 s`; a dash when nothing moves. */
export function etaText(seconds: number | null): string {
  if (seconds === null) return '-';
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${String(whole % 60).padStart(2, '0')} s`;
  return `${Math.floor(whole / 3_600)} h ${String(Math.floor((whole % 3_600) / 60)).padStart(2, '0')} min`;
}

/** Between two looks at a rebuild, milliseconds. */
const lookMs = 200;
/** Looks in a row that find neither the rebuild nor its end: the service was stopped in the middle of it. */
const mostIdleLooks = 50;

async function rebuild(client: Client, { output, signal }: Shell, name: string): Promise<void> {
  const { body } = await client.get<{ items: Projection[] }>(path);
  const before = body.items.find((projection) => projection.name === name);
  if (!before) throw unknownProjection(name, body.items);
  await client.post(pathOf('v1', 'projections', name, 'rebuild'));
  const built = await followed(client, name, before.build, progressBar(output, name), signal);
  output.result(built, () => `${name} is rebuilt and serves, at position ${built.position}`);
}

function unknownProjection(field: string, known: readonly Projection[]): CliFailure {
  const names = known.map(({ name }) => name).join(', ');
  return new CliFailure(exitCodes.failed, 'not_found', `there is no projection of that name; there are ${names}`, { field });
}

async function look(client: Client, name: string): Promise<Projection | undefined> {
  const { body } = await client.get<{ items: Projection[] }>(path);
  return body.items.find((projection) => projection.name === name);
}

/** Looks until a build with a higher number serves. @throws CliFailure with the reason when the rebuild fails */
async function followed(client: Client, name: string, build: number, bar: ProgressBar, signal: AbortSignal): Promise<Projection> {
  try {
    for (let idleLooks = 0; idleLooks < mostIdleLooks; idleLooks += 1) {
      const now = await look(client, name);
      if (!now) throw new CliFailure(exitCodes.failed, 'projection_unknown', 'the projection is gone', { field: name });
      if (now.rebuild_error !== null) throw rebuildFailed(name, now.rebuild_error);
      if (now.build > build && now.rebuild === null) return now;
      if (now.rebuild) idleLooks = 0;
      bar.show(now);
      await pause(lookMs, undefined, { signal }).catch(() => {
        throw interrupted();
      });
    }
    throw rebuildFailed(name, 'the service no longer knows of it');
  } finally {
    bar.stop();
  }
}

const rebuildFailed = (name: string, reason: string) =>
  new CliFailure(exitCodes.failed, 'rebuild_failed', reason, { field: name });

interface ProgressBar {
  show(projection: Projection): void;
  stop(): void;
}

const silent: ProgressBar = { show: () => undefined, stop: () => undefined };

/** On a terminal only: in a log file every step of a bar would be another line. */
function progressBar(output: Output, name: string): ProgressBar {
  if (!output.animated) return silent;
  const bar = new SingleBar({
    format: `${name} {bar} {percentage} % | {value}/{total} | {rate} events/s | {left} left`,
    stream: output.stderr as NodeJS.WritableStream,
    hideCursor: true,
    clearOnComplete: true,
  });
  bar.start(1, 0, { rate: 0, left: '-' });
  return {
    show: ({ head, rebuild }) => {
      if (!rebuild) return;
      bar.setTotal(Math.max(head + 1, 1));
      bar.update(rebuild.position + 1, { rate: rebuild.rate.toFixed(0), left: etaText(rebuild.eta_seconds) });
    },
    stop: () => bar.stop(),
  };
}
