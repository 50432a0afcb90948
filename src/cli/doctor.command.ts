import type { Command } from 'commander';
import type { Finding, Severity } from '../doctor/doctor.js';
import { CliFailure, exitCodes, interrupted } from './failure.js';
import { printable } from './output.js';
import type { Shell } from './shell.js';

/** Looks at an installation, and says what to do about what is wrong with it. */
export function addDoctor(program: Command, shell: Shell): void {
  program
    .command('doctor')
    .description('look at settings, data folder, database, log, clocks, models, read models and the running service')
    .action(() => doctor(shell));
}

async function doctor({ environment, output, signal }: Shell): Promise<void> {
  // Only here: it loads every adapter there is.
  const { examine, worstOf } = await import('../doctor/doctor.js');
  const findings: Finding[] = [];
  try {
    for await (const finding of examine({ environment, signal })) findings.push(finding);
  } catch (error) {
    throw signal.aborted ? interrupted() : error;
  }
  const status = worstOf(findings);
  output.result({ status, findings }, () => reportText(findings));
  if (status !== 'failed') return;
  const count = findings.filter(({ severity }) => severity === 'failed').length;
  throw new CliFailure(exitCodes.failed, 'doctor_failed', count === 1 ? '1 check failed' : `${count} checks failed`);
}

const marks: Readonly<Record<Severity, string>> = { ok: 'ok     ', warning: 'warning', failed: 'failed ' };

/** A line a finding, and what to do about it below. */
export const reportText = (findings: readonly Finding[]): string =>
  findings
    .flatMap(({ check, severity, message, advice }) => [
      `${marks[severity]}  ${check}: ${message}`,
      ...(advice === null ? [] : [`           -> ${advice}`]),
    ])
    .map(printable)
    .join('\n');
