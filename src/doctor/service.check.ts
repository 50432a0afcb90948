import { exceptionType } from '../embedding/errors.js';
import { clockSkew } from './clock.check.js';
import { findingsOf, type Finding } from './finding.js';

const { ok, warning, failed } = findingsOf('service');

/** Longest wait for one answer, milliseconds: the service itself gives its dependencies three seconds. */
const answerTimeoutMs = 10_000;

export interface ServiceUnderTest {
  readonly url: string;
  /** Undefined where none is known: the check of the key is left out then. */
  readonly apiKey: string | undefined;
  readonly signal: AbortSignal;
  readonly now: () => number;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly date: number;
  /** Here, when the service answered, give or take half of the time it took. */
  readonly at: number;
  readonly took: number;
}

/** Asks a running service how it does. */
export async function checkService(service: ServiceUnderTest): Promise<Finding[]> {
  const ready = await ask(service, '/health/ready');
  if (typeof ready === 'string')
    return [failed(`no service answers at ${hostOf(service.url)} (${ready})`, 'start it, or correct MNEME_URL')];
  const isOurs = ready.status === 200 ? Array.isArray(ready.body.projections) : ready.body.code === 'not_ready';
  if (!isOurs) return [failed(`what answers at ${hostOf(service.url)} is not Mneme (HTTP ${ready.status})`, 'correct MNEME_URL')];
  return [
    readiness(ready),
    ...(await keyFindings(service)),
    clockSkew('the service', {
      theirs: ready.date,
      ours: ready.at,
      // The header has whole seconds, cut off.
      uncertainty: ready.took / 2 + 1_000,
    }),
    ...projectionFindings(ready.body),
    ...embeddingFindings(ready.body),
  ];
}

async function ask({ url, signal, now }: ServiceUnderTest, path: string, key?: string): Promise<Answer | string> {
  const started = now();
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}${path}`, {
      headers: {
        accept: 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      signal: AbortSignal.any([signal, AbortSignal.timeout(answerTimeoutMs)]),
      redirect: 'error', // would carry the key to wherever it points
    });
    const body = (await response.json().catch(() => ({}))) as Record<string, unknown> | null;
    return {
      status: response.status,
      body: body ?? {},
      date: Date.parse(response.headers.get('date') ?? ''),
      at: (started + now()) / 2,
      took: now() - started,
    };
  } catch (error) {
    if (signal.aborted) throw error;
    const code = (error as { cause?: { code?: unknown } }).cause?.code;
    return typeof code === 'string' ? code : exceptionType(error);
  }
}

/** Host and port alone: whatever else an address holds may be secret. */
function hostOf(url: string): string {
  return new URL(url).host;
}

function readiness({ status, body }: Answer): Finding {
  if (status !== 200) {
    const missing = ['log', 'database'].filter((name) => body[name] === 'unreachable');
    const what =
      missing.length > 0
        ? `it cannot reach its ${missing.join(' and its ')}`
        : 'keys of erased memories are still being destroyed';
    return failed(`it is not ready: ${what}`, 'see what it logs; other findings may say why');
  }
  if (body.status === 'degraded')
    return warning('it serves, but is degraded', 'the findings about projections and embeddings say why');
  return ok('it is ready');
}

async function keyFindings(service: ServiceUnderTest): Promise<Finding[]> {
  if (service.apiKey === undefined) return [];
  const answer = await ask(service, '/v1/projections', service.apiKey);
  if (typeof answer === 'string') return [warning(`it did not answer to the key (${answer})`, 'ask again')];
  if (answer.status === 401) return [failed('it does not accept the API key', 'set MNEME_API_KEY to a valid one')];
  return [ok('it accepts the API key')];
}

function projectionFindings({ projections }: Answer['body']): Finding[] {
  const findings = findingsOf('projections');
  if (!Array.isArray(projections)) return [];
  const all = projections as { name: string; state: string; lag_seconds: number }[];
  const stopped = all.filter(({ state }) => state === 'stopped');
  const behind = all.filter(({ state, lag_seconds }) => state !== 'stopped' && lag_seconds >= 10);
  return [
    ...stopped.map(({ name }) =>
      findings.failed(`${name} is stopped`, `mneme projections status says why; mneme projections rebuild ${name} makes it anew`),
    ),
    ...behind.map(({ name, lag_seconds }) =>
      findings.warning(`${name} is ${lag_seconds.toFixed(0)} s behind`, 'mneme projections status says how fast it comes level'),
    ),
    ...(stopped.length + behind.length === 0 && all.length > 0 ? [findings.ok(`all ${all.length} are level with the log`)] : []),
  ];
}

/** Age of a document without a vector from which somebody should look, seconds. */
const oldAge = 600;

function embeddingFindings({ embeddings }: Answer['body']): Finding[] {
  const findings = findingsOf('embeddings');
  const state = embeddings as
    | { model: string; reason: string | null; pending: number; failed: number; oldest_pending_seconds: number | null }
    | null
    | undefined;
  if (!state) return [];
  const found: Finding[] = [];
  if (state.model === 'failing')
    found.push(findings.failed(`its model makes no vectors (${state.reason})`, 'the finding about the embedder may say why'));
  if (state.failed > 0)
    found.push(
      findings.warning(`documents that failed and wait for a retry: ${state.failed}`, 'docs/embedding.md says what can be done'),
    );
  else if ((state.oldest_pending_seconds ?? 0) >= oldAge)
    found.push(
      findings.warning(
        `documents wait for a vector since ${Math.round((state.oldest_pending_seconds ?? 0) / 60)} min`,
        'see mneme_embeddings_* in /metrics',
      ),
    );
  return found.length > 0
    ? found
    : [findings.ok(state.pending === 0 ? 'every document has its vector' : `documents that wait for a vector: ${state.pending}`)];
}
