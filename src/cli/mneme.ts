#!/usr/bin/env node
import { exitCodes } from './failure.js';
import { run } from './program.js';

const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    // Whoever presses Ctrl-C twice does not want to wait for a clean end.
    if (stopping.signal.aborted) process.exit(exitCodes.interrupted);
    stopping.abort();
  });
}
// A reader that has seen enough, such as `head`, closes the pipe: no reason to complain.
process.stdout.on('error', () => process.exit(exitCodes.done));

process.exitCode = await run(process.argv.slice(2), {
  environment: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  signal: stopping.signal,
});
