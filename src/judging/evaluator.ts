/** One run of a procedure, as it is given to a judge. */
export interface JudgedRun {
  readonly question: string;
  /** Not blank, at most 32,000 code points; see `judgeable`. */
  readonly answer: string;
  /** The procedure's graph, where the judge should know how the answer came about. */
  readonly graph?: Readonly<Record<string, unknown>> | undefined;
}

export interface Judgement {
  readonly success: boolean;
}

/** Judges whether a run succeeded. The port; callers use `askEvaluator`, which adds timeout and checks. */
export abstract class Evaluator {
  /**
   * @throws DependencyUnavailable when the model is down; every exception but AdapterDefect counts as that too
   * @throws AdapterDefect when the model refuses the request itself
   */
  abstract judge(run: JudgedRun, signal: AbortSignal): Promise<Judgement>;
}
