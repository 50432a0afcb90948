/** One rule that a field of the request broke. Never holds the value. */
export interface FieldProblem {
  readonly field: string;
  /** Stable name of the rule, for example `code_points`. */
  readonly rule: string;
  readonly message: string;
}

export interface HttpProblemOptions {
  /** Fixed text for people; never anything a client sent. */
  readonly detail?: string;
  readonly field?: string;
  readonly fields?: readonly FieldProblem[];
  readonly headers?: Readonly<Record<string, string>>;
  /** Further members of the problem body. */
  readonly extensions?: Readonly<Record<string, unknown>>;
}

/** What the HTTP layer itself refuses, already in terms of an answer. */
export class HttpProblem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    readonly options: HttpProblemOptions = {},
  ) {
    super(code);
  }
}

export const isHttpProblem = (error: unknown): error is HttpProblem => error instanceof HttpProblem;

/** 422 for one field, in the shape that validation has. */
export const fieldProblem = (field: string, rule: string, message: string): HttpProblem =>
  new HttpProblem(422, 'validation_failed', { field, fields: [{ field, rule, message }] });

/** An unknown id and another team's id: the same answer, so that ids of other teams cannot be told from none. */
export const notFound = (): HttpProblem => new HttpProblem(404, 'not_found');
