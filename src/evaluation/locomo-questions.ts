import type { LocomoConversation } from '../importing/locomo.js';

/** Categories that have an answer, by their number; the fifth asks for what was never said. */
export const locomoCategories = new Map([
  [1, 'multi_hop'],
  [2, 'temporal'],
  [3, 'open_domain'],
  [4, 'single_hop'],
]);

export interface AskedQuestion {
  readonly conversation: string;
  readonly category: string;
  readonly question: string;
  /** Ids of turns, at least one. */
  readonly wanted: readonly string[];
}

/** The questions that have an answer, and at least one turn that exists and gives it. */
export function askedQuestions({ id, items, questions }: LocomoConversation): AskedQuestion[] {
  const turns = new Set(items.map(({ external_id }) => external_id));
  return questions.flatMap((one) => {
    const category = locomoCategories.get(one.category);
    const wanted = [...new Set(one.evidence)].filter((turn) => turns.has(turn));
    if (category === undefined || wanted.length === 0) return [];
    return [{ conversation: id, category, question: one.question, wanted }];
  });
}
