import { EmbeddingGenerator, type EmbeddingContract } from './embedding-generator.js';
import { EmbeddingUnavailable, type EmbeddingFailureReason } from './errors.js';
import { EndpointFailure, malformedAnswer, postJson, type ModelEndpoint } from './model-endpoint.js';

/** Inputs in one request: the smallest limit among the services we know of. */
export const largestBatch = 96;

/** A number takes up to 24 characters, and an endpoint may indent each on a line of its own. */
const bytesPerNumber = 48;
const bytesBesideNumbers = 65_536;

export interface OpenAiEmbedderOptions extends ModelEndpoint {
  /** Dimensions of the endpoint's vectors. */
  readonly dimensions: number;
  /**
   * Ask for that many dimensions (OpenAI's text-embedding-3 models can shorten their vectors). Off by default, because
   * several compatible servers refuse the parameter, even with the model's own number.
   */
  readonly requestDimensions?: boolean;
}

/**
 * Vectors of an OpenAI-compatible endpoint: `POST {url}/embeddings`.
 *
 * Every failure is `embedding_unavailable`: a wrong key or model, too, is nothing that the caller's input could cure. The
 * detail is an HTTP status, the code of a network error, `malformed answer` or `answer too large`.
 */
export class OpenAiEmbedder extends EmbeddingGenerator {
  readonly contract: EmbeddingContract;

  constructor(private readonly options: OpenAiEmbedderOptions) {
    super();
    this.contract = { id: `openai:${options.model}:${options.dimensions}`, dimensions: options.dimensions };
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<number[][]> {
    const vectors: number[][] = [];
    for (let start = 0; start < texts.length; start += largestBatch) {
      vectors.push(...(await this.embedBatch(texts.slice(start, start + largestBatch), signal)));
    }
    return vectors;
  }

  private async embedBatch(input: readonly string[], signal: AbortSignal): Promise<number[][]> {
    const { model, dimensions, requestDimensions = false } = this.options;
    const body = { model, input, ...(requestDimensions ? { dimensions } : {}) };
    const limitBytes = bytesBesideNumbers + input.length * dimensions * bytesPerNumber;
    try {
      return inOrder(await postJson(this.options, '/embeddings', body, { limitBytes, signal }), input.length);
    } catch (error) {
      if (error instanceof EndpointFailure)
        throw new EmbeddingUnavailable(reasonOf(error), error.detail, error.facts.retryAfterMs);
      throw error;
    }
  }
}

/** What another key, address or model would cure, and no other text. */
const misconfigured = new Set([401, 403, 404, 405, 407]);

function reasonOf({ kind, facts: { status } }: EndpointFailure): EmbeddingFailureReason {
  if (status === undefined) return 'unreachable';
  if (status === 429) return 'rate_limited';
  if (misconfigured.has(status) || (status >= 300 && status < 400)) return 'misconfigured';
  if (kind === 'refused') return 'refused';
  return status < 300 ? 'malformed_answer' : 'server_error';
}

/** Endpoints may answer in any order; `index` says which input a vector belongs to. */
function inOrder(answer: unknown, count: number): number[][] {
  const data = (answer as { data?: unknown } | null)?.data;
  if (!Array.isArray(data) || data.length !== count) throw malformedAnswer();
  const vectors = new Map<unknown, number[]>();
  for (const item of data as unknown[]) {
    const { index, embedding } = (item ?? {}) as { index?: unknown; embedding?: unknown };
    if (!Array.isArray(embedding) || vectors.has(index)) throw malformedAnswer();
    vectors.set(index, embedding as number[]);
  }
  return Array.from({ length: count }, (_, index) => {
    const vector = vectors.get(index);
    if (!vector) throw malformedAnswer();
    return vector;
  });
}
