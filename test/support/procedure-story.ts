import fc from 'fast-check';
import type { Remembered } from './remember.js';
import type { TestTeam } from './service.js';

/** Something that is done to one of a team's few versions, or to one of its runs. */
export type Action =
  | { do: 'remember'; version: number; child: boolean; success: boolean; review: boolean; daysAgo: number }
  | { do: 'run'; version: number; success: boolean; daysAgo: number }
  | { do: 'feedback'; run: number; worked: boolean | null }
  | { do: 'approve' | 'reject' | 'archive' | 'restore' | 'erase'; version: number }
  | { do: 'prune'; version: number; daysAgo: number };

const version = fc.integer({ min: 0, max: 2 });
const daysAgo = fc.integer({ min: 0, max: 5 });
const success = fc.boolean();

export const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('remember' as const),
      version,
      child: fc.boolean(),
      success,
      review: fc.boolean(),
      daysAgo,
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('run' as const), version, success, daysAgo }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('feedback' as const), run: fc.nat(9), worked: fc.constantFrom(true, false, null) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('approve', 'reject', 'archive', 'restore'), version }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('prune' as const), version, daysAgo }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('erase' as const), version }) },
);

const dayOf = (days: number) => new Date(Date.UTC(2026, 4, 31 - days)).toISOString();

export interface Story {
  /** Every procedure and run there ever was, erased ones too. */
  readonly procedures: readonly string[];
  readonly runs: readonly string[];
  /** Of the last write; empty when nothing was written. */
  readonly position: string;
}

/** Plays the actions over HTTP; refusals are part of the game. */
export async function play(team: TestTeam, actions: readonly Action[]): Promise<Story> {
  const procedures = new Map<number, string>();
  const runs: string[] = [];
  const all = new Set<string>();
  let position = '';
  const send = async <Body>(path: string, body: object = {}) => {
    const answer = await team.client.post<Body>(path, body);
    position = answer.position || position;
    return answer;
  };
  for (const next of actions) {
    const id = 'version' in next ? procedures.get(next.version) : undefined;
    switch (next.do) {
      case 'remember': {
        const parent = next.child ? procedures.get(next.version - 1) : undefined;
        const { status, body } = await send<Remembered>('/v1/procedures', {
          question: `How do I refund an order${next.version === 1 ? ' I shipped' : ' for a customer'}?`,
          version: `${next.version}`,
          graph: {},
          review: next.review,
          run: { success: next.success, occurred_at: dayOf(next.daysAgo) },
          ...(parent === undefined ? {} : { parent_id: parent }),
        });
        if (status > 201) break;
        procedures.set(next.version, body.procedure_id);
        all.add(body.procedure_id);
        runs.push(body.execution_id);
        break;
      }
      case 'run': {
        if (id === undefined) break;
        const run = { success: next.success, occurred_at: dayOf(next.daysAgo) };
        const { status, body } = await send<Remembered>(`/v1/procedures/${id}/executions`, run);
        if (status === 201) runs.push(body.execution_id);
        break;
      }
      case 'feedback':
        if (runs.length > 0) await send(`/v1/executions/${runs[next.run % runs.length]}/feedback`, { worked: next.worked });
        break;
      case 'prune':
        if (id !== undefined) await send(`/v1/procedures/${id}/prune`, { before: dayOf(next.daysAgo) });
        break;
      case 'erase':
        if (id !== undefined) position = (await team.client.delete(`/v1/procedures/${id}`)).position || position;
        break;
      default:
        if (id !== undefined) await send(`/v1/procedures/${id}/${next.do}`);
    }
  }
  return { procedures: [...all], runs, position };
}
