import { exceptionType } from './errors.js';

/** An OpenAI-compatible HTTP endpoint. */
export interface ModelEndpoint {
  /** Base URL, for example `http://127.0.0.1:8080/v1`; a query string is kept. */
  readonly url: string;
  readonly model: string;
  /** Sent as bearer token. */
  readonly apiKey: string | undefined;
}

/**
 * The endpoint gave no usable answer.
 *
 * `unavailable`: may be better later (no connection, 5xx, 408, 425, 429, an answer that cannot be read).
 * `refused`: the request itself is not accepted (any other 4xx), so that repeating it is useless.
 */
export class EndpointFailure extends Error {
  readonly code = 'endpoint_failure';

  /** @param detail HTTP status, code of a network error, or our own words; never the server's text */
  constructor(
    readonly kind: 'unavailable' | 'refused',
    readonly detail: string,
    readonly facts: EndpointFacts = {},
  ) {
    super(`the model endpoint failed: ${detail}`);
  }
}

export interface EndpointFacts {
  /** HTTP status, where there was an answer; 200 for one that cannot be read. */
  readonly status?: number;
  /** From Retry-After, at most an hour. */
  readonly retryAfterMs?: number;
}

export const malformedAnswer = () => new EndpointFailure('unavailable', 'malformed answer', { status: 200 });

/** Longest Retry-After that is believed, milliseconds: nothing that is busy for longer is worth stopping for. */
const longestRetryAfterMs = 3_600_000;

/**
 * Milliseconds from now of a Retry-After header, which holds seconds or a date (RFC 9110, 10.2.3); undefined for anything else.
 */
export function retryAfterMs(header: string | null, now: number): number | undefined {
  const text = header?.trim() ?? '';
  const wanted = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : /GMT$/.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(wanted) ? undefined : Math.min(Math.max(wanted, 0), longestRetryAfterMs);
}

const retriedStatuses = new Set([408, 425, 429]);

/**
 * Posts JSON and gives back the parsed JSON of the answer.
 *
 * Redirects are not followed: they would carry key and content to a server that nobody configured. It has no timeout of its
 * own; callers end it through the signal.
 *
 * @param path appended to the base URL, for example `/embeddings`
 * @param limitBytes an answer that is longer, once decompressed, is not read to its end
 * @throws EndpointFailure
 * @throws what the signal was fired with
 */
export async function postJson(
  endpoint: ModelEndpoint,
  path: string,
  body: unknown,
  { limitBytes, signal }: { limitBytes: number; signal: AbortSignal },
): Promise<unknown> {
  try {
    const response = await fetch(targetOf(endpoint.url, path), {
      method: 'POST',
      redirect: 'manual',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        ...(endpoint.apiKey === undefined ? {} : { authorization: `Bearer ${endpoint.apiKey}` }),
      },
      body: JSON.stringify(body),
      signal,
    });
    if (response.status !== 200) {
      await response.body?.cancel();
      throw statusFailure(response);
    }
    return parsed(await boundedText(response, limitBytes));
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof EndpointFailure ? error : new EndpointFailure('unavailable', networkCode(error));
  }
}

function statusFailure({ status, headers }: Response): EndpointFailure {
  const after = retryAfterMs(headers.get('retry-after'), Date.now());
  const facts = { status, ...(after === undefined ? {} : { retryAfterMs: after }) };
  return new EndpointFailure(isRefusal(status) ? 'refused' : 'unavailable', `HTTP ${status}`, facts);
}

const isRefusal = (status: number) => status >= 400 && status < 500 && !retriedStatuses.has(status);

function targetOf(url: string, path: string): URL {
  const target = new URL(url);
  target.pathname = target.pathname.replace(/\/*$/, path);
  return target;
}

async function boundedText(response: Response, limitBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop by an exception cancels the body, and with it the connection.
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > limitBytes) throw new EndpointFailure('unavailable', 'answer too large', { status: 200 });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    throw malformedAnswer();
  }
}

/** `fetch` fails with a bare TypeError; what happened is the code of its cause, for example ECONNREFUSED. */
function networkCode(error: unknown): string {
  const cause = typeof error === 'object' && error !== null ? (error as { cause?: unknown }).cause : undefined;
  const code = typeof cause === 'object' && cause !== null ? (cause as { code?: unknown }).code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z_0-9]{1,40}$/.test(code) ? code : exceptionType(error);
}
