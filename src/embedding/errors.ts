export type DependencyCode = 'embedding_unavailable' | 'intent_unavailable' | 'evaluator_unavailable';

const dependencyNames: Readonly<Record<DependencyCode, string>> = {
  embedding_unavailable: 'embedding model',
  intent_unavailable: 'intent extractor',
  evaluator_unavailable: 'evaluator',
};

/**
 * A model is down: it throws, times out, returns nothing, or returns what cannot be used. Worth a retry.
 *
 * Neither message nor detail ever quotes the input, a key, or the model server's text: each could hold what a person wrote.
 */
export class DependencyUnavailable extends Error {
  /** @param detail an exception's type, an HTTP status, or the reason an embedding is unusable */
  constructor(
    readonly code: DependencyCode,
    readonly detail: string | undefined,
  ) {
    super(`the ${dependencyNames[code]} is unavailable${detail ? ` (${detail})` : ''}`);
  }
}

/**
 * Why there is no vector, for metrics, for the columns of a row that failed, and for whoever must mend it. A closed set.
 *
 * `unreachable` no connection, or it broke; `timeout`; `rate_limited` (429); `server_error` (5xx, 408, 425);
 * `misconfigured` (401, 403, 404, 405, 407, a redirect: key, address or model are wrong); `refused` (any other 4xx);
 * `malformed_answer` not one vector a text; `wrong_dimensions`, `not_finite`, `zero_norm` a vector that cannot be used;
 * `adapter_error` another exception; `no_data_key` the memory or its team has no key (any more), which is no model's fault.
 */
export const embeddingFailureReasons = [
  'unreachable',
  'timeout',
  'rate_limited',
  'server_error',
  'misconfigured',
  'refused',
  'malformed_answer',
  'wrong_dimensions',
  'not_finite',
  'zero_norm',
  'adapter_error',
  'no_data_key',
] as const;
export type EmbeddingFailureReason = (typeof embeddingFailureReasons)[number];

/** No vector, and why. */
export class EmbeddingUnavailable extends DependencyUnavailable {
  /** @param retryAfterMs how long the endpoint asks to be left alone, milliseconds */
  constructor(
    readonly reason: EmbeddingFailureReason,
    detail: string | undefined,
    readonly retryAfterMs?: number,
  ) {
    super('embedding_unavailable', detail);
  }

  /** Reason and detail in one line, `refused: HTTP 422`; never content. */
  get description(): string {
    return this.detail === undefined ? this.reason : `${this.reason}: ${this.detail}`;
  }
}

/** What any exception of a generator comes to. */
export function embeddingUnavailable(error: unknown): EmbeddingUnavailable {
  if (error instanceof EmbeddingUnavailable) return error;
  if (error instanceof DependencyUnavailable) return new EmbeddingUnavailable('adapter_error', error.detail);
  const type = exceptionType(error);
  return new EmbeddingUnavailable(type === 'TimeoutError' ? 'timeout' : 'adapter_error', type);
}

/** An adapter broke its port's contract: a bug, not a state of the world. Retrying does not help. */
export class AdapterDefect extends Error {
  readonly code = 'adapter_defect';

  /**
   * @param port the port's name in plain words, for example `intent extractor`
   * @param reason the field that is wrong and why, or an HTTP status; never a value
   */
  constructor(
    readonly port: string,
    readonly reason: string,
  ) {
    super(`the ${port}’s adapter is defective: ${reason}`);
  }
}

export const isDependencyUnavailable = (error: unknown): error is DependencyUnavailable => error instanceof DependencyUnavailable;
export const isAdapterDefect = (error: unknown): error is AdapterDefect => error instanceof AdapterDefect;

/**
 * The name of an exception's type, all that may be told of an exception that is not ours.
 *
 * It reads the constructor, not `name`, which any code can fill with text; DOMException keeps its type in `name` only.
 */
export function exceptionType(error: unknown): string {
  if (typeof error !== 'object' || error === null) return typeof error;
  const constructor = (Object.getPrototypeOf(error) as { constructor?: { name?: unknown } } | null)?.constructor?.name;
  const name = constructor === 'DOMException' ? (error as { name?: unknown }).name : constructor;
  return typeof name === 'string' && /^[A-Za-z_$][\w$]{0,63}$/.test(name) ? name : 'unknown';
}
