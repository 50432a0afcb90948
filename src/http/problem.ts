import { HttpException } from '@nestjs/common';
import { STATUS_CODES } from 'node:http';
import { isDependencyUnavailable } from '../embedding/errors.js';
import { isCommandRefused, isVersionConflict } from '../event-log/execute.js';
import { type HttpProblemOptions, isHttpProblem } from './http-problem.js';
import { projectionProblems } from './projection-problems.js';

/** An answer that is not a success, before it is written. */
export interface Problem extends HttpProblemOptions {
  readonly status: number;
  readonly code: string;
}

/** Body of such an answer: RFC 9457 with our members. */
export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** Stable; clients decide by it. */
  readonly code: string;
  readonly detail?: string;
  /** Field of the request at fault. */
  readonly field?: string;
  readonly fields?: HttpProblemOptions['fields'];
  readonly correlation_id: string;
}

/** HTTP status by refusal code of the deciders; a code that no slice registered is a 422. */
const refusalStatuses = new Map<string, number>([
  ['not_found', 404],
  ['idempotency_key_reused', 422],
]);

/** Called by a slice for the codes of its deciders that are not a 422. @throws Error when two slices disagree */
export function registerRefusals(statuses: Readonly<Record<string, number>>): void {
  for (const [code, status] of Object.entries(statuses)) {
    if ((refusalStatuses.get(code) ?? status) !== status) throw new Error(`the refusal ${code} has two statuses`);
    refusalStatuses.set(code, status);
  }
}

const retryAfterSeconds = '1';
const unavailable = (code: string): Problem => ({ status: 503, code, headers: { 'retry-after': retryAfterSeconds } });

/** Errors of the layers below that mean something to a client, by their `code`. What is not here is a 500 without detail. */
const knownErrors: Readonly<Record<string, Problem>> = {
  log_unavailable: unavailable('log_unavailable'),
  log_access_denied: unavailable('log_access_denied'),
  database_unavailable: unavailable('database_unavailable'),
  append_outcome_unknown: {
    ...unavailable('append_outcome_unknown'),
    detail: 'The write may or may not have been stored. Repeat it with the same Idempotency-Key.',
  },
  command_contended: unavailable('command_contended'),
  wrong_expected_revision: unavailable('command_contended'),
  key_unavailable: unavailable('key_unavailable'),
  append_too_large: { status: 413, code: 'too_large' },
  key_erased: { status: 410, code: 'erased' },
  stream_tombstoned: { status: 410, code: 'erased' },
  projection_unknown: { status: 404, code: 'not_found' },
  rebuild_running: { status: 409, code: 'rebuild_running', headers: { 'retry-after': '10' } },
  ...projectionProblems,
};

/** Errors that Fastify raises before a handler runs. */
const fastifyErrors: Readonly<Record<string, Problem>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: { status: 415, code: 'unsupported_media_type', detail: 'Send application/json.' },
  FST_ERR_CTP_EMPTY_TYPE: { status: 415, code: 'unsupported_media_type', detail: 'Send application/json.' },
  FST_ERR_CTP_BODY_TOO_LARGE: { status: 413, code: 'too_large' },
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: { status: 400, code: 'malformed_request' },
  FST_ERR_BAD_URL: { status: 400, code: 'malformed_url' },
  FST_ERR_MAX_PARAM_LENGTH: { status: 414, code: 'uri_too_long' },
};

const internal: Problem = { status: 500, code: 'internal' };

/** The one place where errors become answers. */
export function problemOf(error: unknown): Problem {
  if (isHttpProblem(error)) return { ...error.options, status: error.status, code: error.code };
  if (isCommandRefused(error)) {
    const status = refusalStatuses.get(error.code) ?? 422;
    return { status, code: error.code, ...(error.field !== undefined && { field: error.field }) };
  }
  if (isVersionConflict(error)) return versionConflict(error.current);
  if (isDependencyUnavailable(error)) {
    return { ...unavailable(error.code), ...(error.detail !== undefined && { detail: error.detail }) };
  }
  if (error instanceof HttpException) return frameworkProblem(error);
  return knownErrors[codeOf(error)] ?? fastifyErrors[codeOf(error)] ?? internal;
}

export function problemBody(problem: Problem, correlationId: string): ProblemBody {
  const { status, code, detail, field, fields, extensions } = problem;
  return {
    type: `urn:mneme:problem:${code}`,
    title: titleOf(code),
    status,
    code,
    ...(detail !== undefined && { detail }),
    ...(field !== undefined && { field }),
    ...(fields !== undefined && { fields }),
    ...extensions,
    correlation_id: correlationId,
  };
}

function versionConflict(current: bigint | 'no_stream'): Problem {
  if (current === 'no_stream') return { status: 404, code: 'not_found' };
  return {
    status: 412,
    code: 'version_conflict',
    headers: { etag: `"${current}"` },
    extensions: { current_version: Number(current) },
  };
}

/** Nest wraps what Fastify refuses; its message may quote the request, so only the status survives. */
function frameworkProblem(error: HttpException): Problem {
  const known = fastifyErrors[codeOf(error.cause)];
  if (known) return known;
  const status = error.getStatus();
  if (status === 404) return { status, code: 'route_not_found' };
  if (status >= 500) return internal;
  const phrase = STATUS_CODES[status] ?? 'bad request';
  return { status, code: phrase.toLowerCase().replaceAll(/[^a-z]+/g, '_') };
}

function codeOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** `version_conflict` reads "Version conflict". */
function titleOf(code: string): string {
  const words = code.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
