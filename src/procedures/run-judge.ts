import { Injectable, Optional } from '@nestjs/common';
import { Configuration } from '../config/configuration.js';
import { askEvaluator, judgeable } from '../judging/ask.js';
import { Evaluator } from '../judging/evaluator.js';

/** A run as its agent reports it. */
export interface ReportedRun {
  readonly success: boolean;
  readonly answer: string | undefined;
  /** When it happened; recorded time when not said. */
  readonly occurredAt: Date | undefined;
}

/** What is recorded of a run: both verdicts, and the answer when it can be kept. */
export interface JudgedRun {
  readonly agent_success: boolean;
  readonly evaluator_success: boolean | null;
  readonly sealed?: { readonly answer: string };
}

/** Asks the evaluator, where one is registered and the run carries an answer. A judge that is down leaves the agent's verdict. */
@Injectable()
export class RunJudge {
  constructor(
    private readonly configuration: Configuration,
    @Optional() private readonly evaluator?: Evaluator,
  ) {}

  /** @throws AdapterDefect, and DOMException `AbortError` when the caller's signal fires */
  async judge(
    run: ReportedRun,
    about: { question: string; graph: Readonly<Record<string, unknown>> },
    signal: AbortSignal,
  ): Promise<JudgedRun> {
    const { success, answer } = run;
    // The answer is the agent's own output, so one that cannot be kept does not fail the call.
    if (answer === undefined || !judgeable(answer)) return { agent_success: success, evaluator_success: null };
    const wait = { timeoutMs: this.configuration.procedures.evaluationTimeoutMs, signal };
    const verdict = this.evaluator && (await askEvaluator(this.evaluator, { ...about, answer }, wait));
    return { agent_success: success, evaluator_success: verdict?.success ?? null, sealed: { answer } };
  }
}
