import Table from 'cli-table3';
import type { CliFailure } from './failure.js';

export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
}

/**
 * What a command says. Results go to stdout, as one JSON value with `--json` and as text for people without; everything
 * else (notes, progress, failures) goes to stderr, so that stdout can always be piped.
 */
export class Output {
  constructor(
    private readonly stdout: OutputStream,
    readonly stderr: OutputStream,
    readonly json: boolean,
    private readonly stackTraces: boolean,
  ) {}

  /** Whether a progress bar can be drawn. */
  get animated(): boolean {
    return !this.json && this.stderr.isTTY === true;
  }

  /** The command's result, once. */
  result(value: unknown, text: () => string): void {
    this.stdout.write(`${this.json ? JSON.stringify(value, null, 2) : text()}\n`);
  }

  /** One bare value, for `$(...)` in a shell. */
  bare(value: string): void {
    this.stdout.write(`${value}\n`);
  }

  /** For people only. */
  note(text: string): void {
    if (!this.json) this.stderr.write(`${text}\n`);
  }

  failure(failure: CliFailure): void {
    this.stderr.write(`${this.json ? JSON.stringify({ error: failureView(failure) }) : failureText(failure)}\n`);
    if (this.stackTraces) this.stderr.write(`${stackOf(failure)}\n`);
  }
}

const failureView = ({ code, message, exitCode, facts }: CliFailure) => ({
  code,
  message,
  ...(facts.field !== undefined && { field: facts.field }),
  ...(facts.fields !== undefined && { fields: facts.fields }),
  ...(facts.status !== undefined && { status: facts.status }),
  ...(facts.correlationId !== undefined && { correlation_id: facts.correlationId }),
  exit_code: exitCode,
});

function failureText({ code, message, facts }: CliFailure): string {
  const { field, fields = [], correlationId } = facts;
  return [
    `mneme: ${code}${field === undefined ? '' : ` (${field})`}: ${message}`,
    ...fields.map((problem) => `  ${problem.field}: ${problem.message}`),
    ...(correlationId === undefined ? [] : [`  correlation id: ${correlationId}`]),
  ]
    .map(printable)
    .join('\n');
}

const stackOf = (failure: CliFailure): string => {
  const cause = failure.cause instanceof Error ? failure.cause : failure;
  return cause.stack ?? cause.message;
};

/**
 * Names come from users: control characters, or marks that turn the direction of writing, would let one rewrite the
 * terminal of whoever lists it. Line breaks stay.
 */
export const printable = (text: string): string => text.replaceAll(/[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu, '\u{fffd}');

const borderless = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '  ',
};

/** Columns side by side, without borders or colours, so that lines can be cut and searched. */
export function tableText(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  align: readonly ('left' | 'right')[] = [],
): string {
  const table = new Table({
    head: [...head],
    chars: borderless,
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
    colAligns: [...align],
  });
  for (const row of rows) table.push(row.map((cell) => printable(cell).replaceAll('\n', ' ')));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
}
