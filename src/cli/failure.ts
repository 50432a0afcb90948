import { types } from 'node:util';
import { ConfigurationError } from '../config/configuration.js';
import { isDatabaseFailure } from '../database/errors.js';

/**
 * How the command line ends, for scripts. Documented in docs/cli.md; a code never changes its meaning.
 */
export const exitCodes = {
  done: 0,
  /** The service refused, or the work failed: the reason's code is on stderr. */
  failed: 1,
  /** The command line itself is wrong: unknown command or option, missing or malformed argument. */
  usage: 2,
  /** The service or the database cannot be reached now; the same command may succeed later. */
  unreachable: 3,
  /** A setting is missing, malformed or unknown. */
  configuration: 4,
  /** Another process uses the data folder, and names no address to speak to. */
  folderInUse: 5,
  /** Ctrl-C or a termination signal. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

export interface FailureFacts {
  /** Field of the request, option or setting at fault. */
  readonly field?: string | undefined;
  readonly fields?: readonly { readonly field: string; readonly rule?: string; readonly message: string }[] | undefined;
  /** HTTP status, where the service answered. */
  readonly status?: number | undefined;
  readonly correlationId?: string | undefined;
  /** Seconds after which the service says that it is worth asking again. */
  readonly retryAfter?: number | undefined;
}

/** Why a command did not do what it was asked to. What a user reads; never a stack trace. */
export class CliFailure extends Error {
  constructor(
    readonly exitCode: ExitCode,
    /** Stable, as the HTTP API's. */
    readonly code: string,
    message: string,
    readonly facts: FailureFacts = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export const isCliFailure = (error: unknown): error is CliFailure => error instanceof CliFailure;

export const usageFailure = (field: string, message: string): CliFailure =>
  new CliFailure(exitCodes.usage, 'usage', message, { field });

export const interrupted = (): CliFailure => new CliFailure(exitCodes.interrupted, 'interrupted', 'stopped before the end');

/** Exit codes of errors that starting the service, or the database, may throw; by their `code`. */
const startCodes: Readonly<Record<string, ExitCode>> = {
  data_folder_in_use: exitCodes.folderInUse,
  database_unavailable: exitCodes.unreachable,
  log_unavailable: exitCodes.unreachable,
};

/** What is told of any error. */
export function failureOf(error: unknown): CliFailure {
  if (isCliFailure(error)) return error;
  if (!types.isNativeError(error)) return new CliFailure(exitCodes.failed, 'internal', 'something went wrong');
  const code = 'code' in error && typeof error.code === 'string' ? error.code : 'internal';
  if (code === 'EADDRINUSE') {
    return new CliFailure(
      exitCodes.failed,
      'port_in_use',
      `${error.message}; set MNEME_PORT to another port`,
      {},
      { cause: error },
    );
  }
  if (error instanceof ConfigurationError) return configurationFailure(error.problems);
  if (isDatabaseFailure(error)) return databaseFailure(error.sqlState, error);
  return new CliFailure(startCodes[code] ?? exitCodes.failed, code, error.message, {}, { cause: error });
}

/** What to do about the states that a server gives to a new user of it; class 28 is "invalid authorization". */
const databaseAdvice: readonly [RegExp, string][] = [
  [/^42501$/, 'the user of DATABASE_URL lacks a right: docs/cli.md lists those it needs, under "On a PostgreSQL server"'],
  [/^3D000$/, 'the database of DATABASE_URL does not exist: create it, or correct the name'],
  [/^28/, 'the server refuses the user or the password of DATABASE_URL: correct them, or the rules of pg_hba.conf'],
];

function databaseFailure(state: string, cause: Error): CliFailure {
  const advice = databaseAdvice.find(([states]) => states.test(state))?.[1];
  const message = advice === undefined ? cause.message : `${advice} (SQLSTATE ${state})`;
  return new CliFailure(exitCodes.failed, 'database_failure', message, {}, { cause });
}

/** @param problems lines of `NAME: what is wrong` */
export function configurationFailure(problems: readonly string[]): CliFailure {
  const fields = problems.map((problem) => {
    const [, field = '', message = problem] = /^([A-Z_*]+): (.*)$/s.exec(problem) ?? [];
    return { field, message };
  });
  return new CliFailure(exitCodes.configuration, 'configuration_invalid', 'the configuration is invalid', {
    field: fields[0]?.field,
    fields,
  });
}
