import type { ModelEndpoint } from '../embedding/model-endpoint.js';
import { Evaluator, type JudgedRun, type Judgement } from './evaluator.js';
import { askForJson } from './openai-chat.js';

const instructions = `You judge whether an answer settles a question.
Answer with one JSON object and nothing else: {"success": true} or {"success": false}
- true: the answer does what the question asks for, completely, and contradicts neither itself nor the question.
- false: it does something else, only part of it, refuses, reports that it failed, or claims success without doing it.
- Judge what the answer says, not how it says it. When you cannot tell, answer false.
- graph, where given, is the plan that was followed. It helps to understand the answer; a good plan is no success.`;

/**
 * JSON characters of the longest graph that is shown to the judge, about 7,000 tokens. Stored graphs may have 200 KB, which
 * many models refuse to read, and a refusal would fail the whole command.
 */
const longestGraph = 20_000;

/** Verdicts from an OpenAI-compatible chat endpoint. Failures: see `askForJson`. */
export class OpenAiEvaluator extends Evaluator {
  constructor(private readonly endpoint: ModelEndpoint) {
    super();
  }

  judge({ question, answer, graph }: JudgedRun, signal: AbortSignal): Promise<Judgement> {
    const port = { name: 'evaluator', code: 'evaluator_unavailable' } as const;
    const shown = graph !== undefined && JSON.stringify(graph).length <= longestGraph;
    const material = { question, answer, ...(shown ? { graph } : {}) };
    return askForJson(this.endpoint, port, { instructions, material, read }, signal);
  }
}

const read = ({ success }: Readonly<Record<string, unknown>>): Judgement | undefined =>
  typeof success === 'boolean' ? { success } : undefined;
