import type { Client } from './http.js';

export interface Remembered {
  readonly procedure_id: string;
  readonly execution_id: string;
  readonly created: boolean;
  readonly status: string;
  readonly source: string;
  readonly success: boolean;
}

export interface Recalled {
  readonly matches: readonly {
    readonly procedure: { readonly procedure_id: string; readonly version: string; readonly question: string };
    readonly similarity: number;
    readonly success_rate: number;
    readonly freshness: number;
    readonly total: number;
    readonly evidence: { readonly runs: number; readonly judged_runs: number; readonly uses_parent_prior: boolean };
    readonly rank_position: number;
  }[];
  readonly abstained: boolean;
  readonly abstention_reason: string | null;
}

export interface VersionOptions {
  readonly question?: string;
  readonly version?: string;
  readonly scope?: string;
  readonly parent_id?: string;
  readonly graph?: object;
  /** Verdicts of its runs, the first being the one it is remembered with. */
  readonly runs?: readonly boolean[];
  readonly occurred_at?: string;
}

/** Remembers a version and records its runs; the position of the last write lets a recall see them all. */
export async function rememberVersion(client: Client, options: VersionOptions = {}): Promise<{ id: string; position: string }> {
  const {
    question = 'How do I refund an order for a customer?',
    version = '1.0',
    runs = [true],
    occurred_at,
    graph = { steps: ['refund'] },
  } = options;
  const timed = occurred_at === undefined ? {} : { occurred_at };
  const { scope, parent_id } = options;
  const first = await client.post<Remembered>('/v1/procedures', {
    question,
    version,
    graph,
    run: { success: runs[0], ...timed },
    ...(scope === undefined ? {} : { scope }),
    ...(parent_id === undefined ? {} : { parent_id }),
  });
  if (first.status !== 201) throw new Error(`not remembered: ${first.status} ${JSON.stringify(first.body)}`);
  let { position } = first;
  for (const success of runs.slice(1)) {
    const run = await client.post(`/v1/procedures/${first.body.procedure_id}/executions`, { success, ...timed });
    if (run.status !== 201) throw new Error(`not recorded: ${run.status} ${JSON.stringify(run.body)}`);
    position = run.position;
  }
  return { id: first.body.procedure_id, position };
}

export const times = (count: number, success: boolean): boolean[] => Array.from({ length: count }, () => success);
