import type { Command } from 'commander';
import { once } from 'node:events';
import type { Shell } from './shell.js';

/** Runs the service until it is told to stop. */
export function addServe(program: Command, shell: Shell): void {
  program
    .command('serve')
    .description('run the service until Ctrl-C or a termination signal; its log goes to stdout, a JSON object a line')
    .action(() => serve(shell));
}

async function serve(shell: Shell): Promise<void> {
  await shell.withOwnService(shell.configuration(), async ({ url, infrastructure }) => {
    infrastructure.logger.records.info({ url }, 'Mneme serves');
    if (shell.output.animated)
      shell.output.note(`Mneme serves at ${url}, its API documentation at ${url}/docs. Ctrl-C stops it.`);
    if (!shell.signal.aborted) await once(shell.signal, 'abort');
  });
}
