import type { Command } from 'commander';
import type { Shell } from './shell.js';

/** Runs the service until it is told to stop. */
export function addServe(program: Command, shell: Shell): void {
  program
    .command('serve')
    .description('run the service until Ctrl-C or a termination signal; its log goes to stdout, a JSON object a line')
    .action(() => serveHere(shell));
}

async function serveHere(shell: Shell): Promise<void> {
  const { output, signal } = shell;
  const configuration = shell.configuration();
  // Only here: loading the service takes longer than most commands do.
  const { serve } = await import('../serve.js');
  await serve(configuration, {
    signal,
    onServing: ({ url }) => {
      if (output.animated) output.note(`Mneme serves at ${url}, its API documentation at ${url}/docs. Ctrl-C stops it.`);
    },
  });
}
