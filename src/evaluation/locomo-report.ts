import { type Case, figures, type Figures, figuresBy } from './retrieval-metrics.js';

/** What comes out of an evaluation. The first figure is named after the limit, so that no two of different limits are compared. */
export interface EvaluationReport {
  readonly [recallAtLimit: `recall_at_${number}`]: number;
  readonly mrr: number;
  readonly questions: number;
  readonly limit: number;
  readonly by_category: Readonly<Record<string, Figures>>;
  readonly by_conversation: Readonly<Record<string, Figures>>;
}

export function report(cases: readonly Case[], limit: number): EvaluationReport {
  const { recall, mrr, questions } = figures(cases, limit);
  const named: Record<`recall_at_${number}`, number> = { [`recall_at_${limit}`]: recall };
  return {
    ...named,
    mrr,
    questions,
    limit,
    by_category: Object.fromEntries(figuresBy(cases, 'category', limit)),
    by_conversation: Object.fromEntries(figuresBy(cases, 'group', limit)),
  };
}
