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
