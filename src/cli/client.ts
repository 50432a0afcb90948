import { types } from 'node:util';
import { CliFailure, exitCodes, interrupted } from './failure.js';

/** An answer of the service that is a success. */
export interface Answer<Body> {
  readonly body: Body;
  /** Of a write: opaque, for `min_position`. */
  readonly position: string | undefined;
}

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

type Query = Readonly<Record<string, string | number | undefined>>;

/** Problem details as the service writes them; nothing is relied on but that they are an object. */
interface ProblemDetails {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly field?: string;
  readonly fields?: readonly { field: string; rule?: string; message: string }[];
  readonly correlation_id?: string;
}

/** Longest wait for an answer, milliseconds: longer than the service itself waits for a model. */
const answerTimeoutMs = 60_000;

/** Speaks to the service over HTTP; whatever is not a success becomes a `CliFailure`. */
export class Client {
  constructor(
    readonly url: string,
    private readonly key: string,
    private readonly signal: AbortSignal,
  ) {}

  get<Body>(path: string, query: Query = {}): Promise<Answer<Body>> {
    return this.request('GET', path, { query });
  }

  post<Body>(path: string, body: object = {}): Promise<Answer<Body>> {
    return this.request('POST', path, { body });
  }

  patch<Body>(path: string, body: object): Promise<Answer<Body>> {
    return this.request('PATCH', path, { body });
  }

  /** Every item of a list, whatever its length. */
  async list<Item>(path: string, query: Query = {}): Promise<Item[]> {
    const items: Item[] = [];
    let cursor: string | undefined;
    do {
      const { body } = await this.get<Page<Item>>(path, { limit: 200, ...query, cursor });
      items.push(...body.items);
      cursor = body.next_cursor ?? undefined;
    } while (cursor !== undefined);
    return items;
  }

  /** The same service with another key. */
  as(key: string): Client {
    return new Client(this.url, key, this.signal);
  }

  private async request<Body>(
    method: string,
    path: string,
    { query = {}, body }: { query?: Query; body?: object },
  ): Promise<Answer<Body>> {
    const target = new URL(`${this.url.replace(/\/+$/, '')}${path}`);
    for (const [name, value] of Object.entries(query)) if (value !== undefined) target.searchParams.set(name, String(value));
    const { response, text } = await this.fetch(target, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        accept: 'application/json, application/problem+json',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
      // A redirect would carry the key to wherever it points.
      redirect: 'error',
    });
    const parsed = parseJson(text);
    const type = response.headers.get('content-type') ?? '';
    // Not the status alone: "the read model is behind" is a problem with status 202.
    if (type.includes('problem+json')) throw refused(response, parsed);
    if (!response.ok || parsed === undefined) throw this.notMneme(response.status);
    return { body: parsed as Body, position: response.headers.get('mneme-position') ?? undefined };
  }

  private async fetch(target: URL, init: RequestInit): Promise<{ response: Response; text: string }> {
    const timeout = AbortSignal.timeout(answerTimeoutMs);
    try {
      const response = await fetch(target, { ...init, signal: AbortSignal.any([this.signal, timeout]) });
      return { response, text: await response.text() };
    } catch (error) {
      if (this.signal.aborted) throw interrupted();
      const reason = timeout.aborted ? `no answer within ${answerTimeoutMs / 1_000} s` : causeOf(error);
      throw new CliFailure(
        exitCodes.unreachable,
        'service_unreachable',
        `no service can be reached at ${this.url} (${reason})`,
        {},
        { cause: error },
      );
    }
  }

  private notMneme(status: number): CliFailure {
    const message = `what answers at ${this.url} is not Mneme (HTTP ${status})`;
    return new CliFailure(status === 503 ? exitCodes.unreachable : exitCodes.failed, 'unexpected_answer', message, { status });
  }
}

export const pathOf = (...segments: readonly string[]): string => `/${segments.map(encodeURIComponent).join('/')}`;

function refused({ status, headers }: Response, body: unknown): CliFailure {
  const { code = 'unknown', title, detail, field, fields, correlation_id }: ProblemDetails = body ?? {};
  const message = advice(code, fields) ?? detail ?? title ?? code;
  return new CliFailure(status === 503 ? exitCodes.unreachable : exitCodes.failed, code, message, {
    field,
    fields,
    status,
    correlationId: correlation_id,
    retryAfter: Number(headers.get('retry-after')) || undefined,
  });
}

/** In the words of the command line, where the service speaks of headers and fields. */
function advice(code: string, fields: ProblemDetails['fields']): string | undefined {
  if (code === 'unauthenticated') return 'the service does not accept the key: set MNEME_API_KEY to a valid one';
  if (fields?.some(({ field, rule }) => field === 'team_id' && rule === 'required')) return 'name the team with --team';
  return undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * `fetch failed` says nothing; its cause's code (ECONNREFUSED, ENOTFOUND, ...) does. The text of a TypeError is never told:
 * fetch quotes a header it cannot send, and one of them holds the key.
 */
function causeOf(error: unknown): string {
  const cause = types.isNativeError(error) && types.isNativeError(error.cause) ? error.cause : error;
  if (!types.isNativeError(cause)) return 'unknown reason';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.name === 'TypeError' ? 'the request cannot be sent' : cause.message;
}
