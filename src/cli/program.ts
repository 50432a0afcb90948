import { Command, CommanderError } from 'commander';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../config/package-root.js';
import { addConfiguration } from './configuration.command.js';
import { addDemo } from './demo.command.js';
import { addDoctor } from './doctor.command.js';
import { addEval } from './eval.command.js';
import { CliFailure, exitCodes, failureOf } from './failure.js';
import { addImport } from './import.command.js';
import { addKeys } from './keys.command.js';
import { addMigrate } from './migrate.command.js';
import { Output, type OutputStream } from './output.js';
import { addProfiles } from './profiles.command.js';
import { addProjections } from './projections.command.js';
import { addRecall } from './recall.command.js';
import { addServe } from './serve.command.js';
import { type Environment, Shell } from './shell.js';
import { addTeams } from './teams.command.js';

export interface Surroundings {
  readonly environment: Environment;
  readonly stdout: OutputStream;
  readonly stderr: OutputStream;
  readonly signal: AbortSignal;
}

/** Runs one command line. @returns the exit code, see `exitCodes` */
export async function run(words: readonly string[], { environment, stdout, stderr, signal }: Surroundings): Promise<number> {
  // From the words, not from the parsed options: a usage error is reported before options are known.
  const output = new Output(stdout, stderr, words.includes('--json'), environment.MNEME_LOG_LEVEL === 'debug');
  const program = programOf(new Shell(environment, output, signal), stdout);
  try {
    await program.parseAsync(words, { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof CommanderError) return usage(error, output);
    const failure = failureOf(error);
    output.failure(failure);
    return failure.exitCode;
  }
}

function programOf(shell: Shell, stdout: OutputStream): Command {
  const { version } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  const program = new Command('mneme')
    .description('Event-sourced memory for AI agents.')
    .version(version)
    .option('--json', 'print the result as JSON to stdout, and nothing else')
    .configureHelp({ showGlobalOptions: true })
    // Before the commands: each takes over what its parent has when it is made.
    .exitOverride()
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => shell.output.note(text.trimEnd()),
    })
    .addHelpText('after', help);
  for (const add of [
    addServe,
    addDemo,
    addTeams,
    addProfiles,
    addKeys,
    addRecall,
    addImport,
    addEval,
    addProjections,
    addMigrate,
    addDoctor,
    addConfiguration,
  ]) {
    add(program, shell);
  }
  return program;
}

const help = `
Speaks to the service of MNEME_URL (with MNEME_API_KEY), else to the one that runs on the data folder (MNEME_DATA),
else starts the service inside itself for the time of the command.

Exit codes: 0 done, 1 refused or failed, 2 usage, 3 service or database unreachable, 4 configuration, 5 data folder in use,
130 interrupted.`;

/** Commander has written its message for people already; it ends help and version by an exception too. */
function usage(error: CommanderError, output: Output): number {
  if (error.exitCode === 0) return exitCodes.done;
  if (output.json) output.failure(new CliFailure(exitCodes.usage, 'usage', error.message.replace(/^error: /, '')));
  return exitCodes.usage;
}
