import { EmbeddingGenerator, type EmbeddingContract } from '../embedding/embedding-generator.js';
import { embeddingUnavailable } from '../embedding/errors.js';
import type { Metrics } from './metrics.js';

/** An embedder whose calls are timed, whatever adapter is behind it and whoever asks. */
export class MeasuredEmbedder extends EmbeddingGenerator {
  readonly contract: EmbeddingContract;

  constructor(
    private readonly generator: EmbeddingGenerator,
    private readonly metrics: Pick<Metrics, 'embeddingCalls'>,
  ) {
    super();
    this.contract = generator.contract;
  }

  async embed(texts: readonly string[], signal: AbortSignal): Promise<Float32Array[] | number[][]> {
    const end = this.metrics.embeddingCalls.startTimer();
    try {
      const vectors = await this.generator.embed(texts, signal);
      end({ outcome: 'embedded' });
      return vectors;
    } catch (error) {
      end({ outcome: signal.aborted ? endedBy(signal.reason) : embeddingUnavailable(error).reason });
      throw error;
    }
  }

  override close(): Promise<void> {
    return this.generator.close();
  }
}

/** Whoever asked either had no more time or no more need. */
const endedBy = (reason: unknown): 'timeout' | 'cancelled' =>
  (reason as { name?: unknown } | undefined)?.name === 'TimeoutError' ? 'timeout' : 'cancelled';
