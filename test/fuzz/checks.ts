import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.js';
import { canariesIn } from './canaries.js';
import type { FuzzRequest } from './requests.js';
import type { WireAnswer } from './wire.js';

/** Problem codes that a page of the documentation names: those of all operations, and those of the commands of a slice. */
const documentedCodes: ReadonlySet<string> = new Set(
  readdirSync(join(packageRoot, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .flatMap((name) => [...readFileSync(join(packageRoot, 'docs', name), 'utf8').matchAll(/`([a-z_]+)`/g)])
    .map(([, code = '']) => code),
);

/** What is wrong with an answer; nothing, if all is well. */
export function faultsOf(request: FuzzRequest, answer: WireAnswer): string[] {
  const faults: string[] = [];
  if (answer.status >= 500) faults.push(`answered with ${answer.status}`);
  if (answer.headers['x-correlation-id'] === undefined) faults.push('has no correlation id');
  if (answer.headers['x-content-type-options'] !== 'nosniff') faults.push('lacks the headers for browsers');
  const problem = answer.headers['content-type']?.startsWith('application/problem+json') ?? false;
  if (answer.status >= 400 && !problem) faults.push(`is an error of the type ${answer.headers['content-type']}`);
  if (problem && !request.sending.head) faults.push(...problemFaults(answer));
  const quoted = forbidden(request, answer, problem);
  const found = [...canariesIn(answer.text)].filter((territory) => quoted.includes(territory));
  if (found.length > 0) faults.push(`quotes ${found.join(' and ')}: ${answer.text.slice(0, 2_000)}`);
  return faults;
}

function problemFaults({ status, headers, body }: WireAnswer): string[] {
  const problem = JSON.parse(body) as Record<string, unknown>;
  const faults: string[] = [];
  if (!documentedCodes.has(String(problem.code))) faults.push(`has the unknown code ${String(problem.code)}`);
  if (problem.status !== status) faults.push(`says the status is ${String(problem.status)}`);
  if (problem.correlation_id !== headers['x-correlation-id']) faults.push('has another correlation id in its body');
  return faults;
}

/** Whose canaries may not be in the answer. Content comes back only to whoever may read it, in an answer that is for reading. */
function forbidden({ key, operation }: FuzzRequest, { status, headers }: WireAnswer, problem: boolean): readonly string[] {
  const everybody = ['a', 'b', 'n'];
  const receipt = headers['mneme-position'] !== undefined;
  if (problem || receipt || status >= 300) return everybody;
  // An operator reads the names of teams, profiles and keys, whoever gave them, and no memory.
  if (key === 'operator') return operation === undefined || /team|profile|key/.test(operation.id) ? [] : everybody;
  if (key === 'b') return ['a'];
  return key.startsWith('a') ? ['b'] : everybody;
}
