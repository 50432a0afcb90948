import type { ModelEndpoint } from '../embedding/model-endpoint.js';
import { slugOf, slugRule } from '../slug.js';
import { IntentExtractor, type ExtractedIntent } from './intent-extractor.js';
import { askForJson } from './openai-chat.js';

const instructions = `You name the intent of a question: what its author wants to get done, whatever the particulars.
Answer with one JSON object and nothing else: {"intent": "<slug>", "confidence": <number>}
- intent: ${slugRule}; a verb and what it is done to, for example "refund-order".
  Questions that ask for the same must get the same slug: leave out names, numbers, dates and other particulars.
- confidence: from 0 to 1, how sure you are that the question has this one intent; below 0.5 when it is vague or has several.`;

/** Intents from an OpenAI-compatible chat endpoint. Failures: see `askForJson`. */
export class OpenAiIntentExtractor extends IntentExtractor {
  constructor(private readonly endpoint: ModelEndpoint) {
    super();
  }

  extract(question: string, signal: AbortSignal): Promise<ExtractedIntent> {
    const port = { name: 'intent extractor', code: 'intent_unavailable' } as const;
    return askForJson(this.endpoint, port, { instructions, material: { question }, read }, signal);
  }
}

function read({ intent, confidence }: Readonly<Record<string, unknown>>): ExtractedIntent | undefined {
  if (typeof intent !== 'string' || typeof confidence !== 'number') return undefined;
  // Models slip in capitals and spaces now and then; at temperature 0 they would do so for ever.
  const slug = slugOf(intent);
  return slug === undefined || !(confidence >= 0 && confidence <= 1) ? undefined : { intent: slug, confidence };
}
