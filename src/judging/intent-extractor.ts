/** What an extractor makes of a question. */
export interface ExtractedIntent {
  /** A slug, see `slugRule`. */
  readonly intent: string;
  /** 0 to 1. */
  readonly confidence: number;
}

/** Names the intent of a question. The port; callers use `askIntent`, which adds timeout, threshold and checks. */
export abstract class IntentExtractor {
  /**
   * @param question 1 to 4,000 code points
   * @throws DependencyUnavailable when the model is down; every exception but AdapterDefect counts as that too
   * @throws AdapterDefect when the model refuses the request itself
   */
  abstract extract(question: string, signal: AbortSignal): Promise<ExtractedIntent>;
}
