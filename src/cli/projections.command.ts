import type { Command } from 'commander';
import { type Client, pathOf } from './client.js';
import { CliFailure, exitCodes, usageFailure } from './failure.js';
import { comparisonTable, nameOf, statusTable } from './projections.text.js';
import { progressBar, rebuildFollowed } from './projections.rebuild.js';
import { type BuildName, pathOfProjections, type Projection, type Verification } from './projections.answers.js';
import type { Shell } from './shell.js';

/** Read models: status, and replacing one build of them by another. */
export function addProjections(program: Command, shell: Shell): void {
  const projections = program.command('projections').description('projections: the read models that are made from the log');
  const withName = (name: string, description: string) =>
    projections.command(name).description(description).argument('<name>', 'name of the projection');

  projections
    .command('status')
    .description('where each read model stands, and every build of it that is kept')
    .action(() => shell.withService((client) => status(client, shell)));

  withName('rebuild', 'build a read model anew from the log, compare it with the one that serves, then switch; waits for the end')
    .option('--hold', 'end when the new build is ready, without comparing and switching')
    .option('--of-version <number>', 'build this version; default: the one that serves')
    .action((name: string, options: { hold?: true; ofVersion?: string }) =>
      shell.withService((client) => rebuild(client, shell, name, options)),
    );

  withName('verify', 'compare the build that is ready, else the one that stands by, with the one that serves').action(
    (name: string) => shell.withService((client) => verify(client, shell, name)),
  );
  withName('switch', 'let the build that is ready serve; what served stands by').action((name: string) =>
    shell.withService((client) => serve(client, shell, name, 'switch')),
  );
  withName('rollback', 'let the build serve again that did before').action((name: string) =>
    shell.withService((client) => serve(client, shell, name, 'rollback')),
  );
  withName('drop', 'drop the builds that do not serve')
    .option('--ready', 'only the one that is ready, or being built')
    .option('--standby', 'only the one that stands by')
    .action((name: string, options: { ready?: true; standby?: true }) =>
      shell.withService((client) => drop(client, shell, name, options)),
    );
  withName('skip', 'leave an event out for good, so that a build which stopped at it goes on')
    .argument('<position>', 'position of the event, as the status shows it')
    .option('--reason <text>', 'why; kept sealed in the log')
    .action((name: string, position: string, options: { reason?: string }) =>
      shell.withService((client) => skip(client, shell, name, { position, ...options })),
    );
}

async function status(client: Client, { output }: Shell): Promise<void> {
  const { body } = await client.get<{ items: Projection[] }>(pathOfProjections);
  output.result(body, () => statusTable(body.items));
}

interface RebuildOptions {
  readonly hold?: true;
  readonly ofVersion?: string;
}

async function rebuild(client: Client, { output, signal }: Shell, name: string, options: RebuildOptions): Promise<void> {
  await known(client, name);
  const { body: started } = await client.post<BuildName>(pathOf('v1', 'projections', name, 'rebuild'), {
    ...(options.hold && { hold: true }),
    ...(options.ofVersion !== undefined && { version: wholeNumber('of-version', options.ofVersion) }),
  });
  const hold = options.hold === true;
  const order = { name, version: started.version, build: started.build, hold };
  const built = await rebuildFollowed(client, order, progressBar(output, name), signal);
  output.result(built, () =>
    hold
      ? `${name}, ${nameOf(started)}, is ready; mneme projections verify and switch are next`
      : `${name} is rebuilt and serves, at position ${built.position}`,
  );
}

async function verify(client: Client, { output }: Shell, name: string): Promise<void> {
  await known(client, name);
  const { body } = await client.post<Verification>(pathOf('v1', 'projections', name, 'verify'));
  output.result(body, () => comparisonTable(body));
  if (!body.equal) throw new CliFailure(exitCodes.failed, 'builds_differ', 'the two builds hold different rows', { field: name });
}

async function serve(client: Client, { output }: Shell, name: string, action: 'switch' | 'rollback'): Promise<void> {
  await known(client, name);
  const { body } = await client.post<{ from: BuildName | null; to: BuildName }>(pathOf('v1', 'projections', name, action));
  const former = body.from ? `; ${nameOf(body.from)} stands by` : '';
  output.result(body, () => `${name}, ${nameOf(body.to)}, serves${former}`);
}

async function drop(
  client: Client,
  { output }: Shell,
  name: string,
  { ready, standby }: { ready?: true; standby?: true },
): Promise<void> {
  await known(client, name);
  const role = ready && !standby ? 'ready' : standby && !ready ? 'standby' : undefined;
  const { body } = await client.post<{ dropped: BuildName[] }>(pathOf('v1', 'projections', name, 'drop'), role ? { role } : {});
  output.result(body, () => `${name}: dropped ${body.dropped.map(nameOf).join(', ')}`);
}

async function skip(
  client: Client,
  { output }: Shell,
  name: string,
  { position, reason }: { position: string; reason?: string },
): Promise<void> {
  await known(client, name);
  const { body } = await client.post<{ position: number }>(pathOf('v1', 'projections', name, 'skip'), {
    position: wholeNumber('position', position),
    ...(reason !== undefined && { reason }),
  });
  output.result(body, () => `${name} leaves out the event at position ${body.position}; what stopped at it goes on`);
}

/** @throws CliFailure that names the projections there are */
async function known(client: Client, name: string): Promise<void> {
  const { body } = await client.get<{ items: Projection[] }>(pathOfProjections);
  if (body.items.some((projection) => projection.name === name)) return;
  const names = body.items.map((projection) => projection.name).join(', ');
  throw new CliFailure(exitCodes.failed, 'not_found', `there is no projection of that name; there are ${names}`, { field: name });
}

function wholeNumber(field: string, text: string): number {
  const number = Number(text);
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(number)) throw usageFailure(field, 'must be a whole number');
  return number;
}
