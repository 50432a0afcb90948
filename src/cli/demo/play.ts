import { type Client, pathOf } from '../client.js';
import { askedQuestion, type RankedRow, story, type StoryProcedure } from './story.js';
import type { TracedMemory } from './timeline.js';

interface Match extends Omit<RankedRow, 'title'> {
  readonly procedure: { readonly procedure_id: string };
}

export interface Played {
  readonly ranking: readonly RankedRow[];
  /** Of the first match. */
  readonly trace: TracedMemory;
}

/** A key that writes and reads as an agent of a new team would. */
export async function newAgentKey(operator: Client): Promise<string> {
  const { team_id } = (await operator.post<{ team_id: string }>('/v1/teams', { name: 'Demo' })).body;
  const profile = await operator.post<{ profile_id: string }>('/v1/profiles', { team_id, name: 'support-agent' });
  const { profile_id } = profile.body;
  const issued = await operator.post<{ key: string }>('/v1/keys', {
    team_id,
    profile_id,
    scopes: ['memory:read', 'memory:write'],
  });
  return issued.body.key;
}

/** Remembers the story, recalls, and traces what came first. */
export async function play(agent: Client, tell: (line: string) => void): Promise<Played> {
  const titles = new Map<string, string>();
  const ids = new Map<string, string>();
  let position: string | undefined;
  for (const procedure of story) {
    const remembered = await remember(agent, procedure, ids.get(procedure.improves ?? ''));
    titles.set(remembered.id, procedure.title);
    ids.set(procedure.title, remembered.id);
    position = remembered.position;
    tell(`Remembered: ${procedure.title}, ${runsText(procedure.runs)}`);
  }
  const { body } = await agent.post<{ matches: Match[] }>('/v1/procedures/recall', {
    question: askedQuestion,
    min_position: position,
  });
  tell(`Recalled: ${askedQuestion}`);
  const ranking = body.matches.map(({ procedure, similarity, success_rate, freshness, total }) => ({
    title: titles.get(procedure.procedure_id) ?? procedure.procedure_id,
    similarity,
    success_rate,
    freshness,
    total,
  }));
  const winner = body.matches[0]?.procedure.procedure_id ?? '';
  const trace = await agent.get<TracedMemory>(pathOf('v1', 'procedures', winner, 'trace'), { min_position: position });
  return { ranking, trace: trace.body };
}

/** The first run comes with the remembering; every other is recorded on its own. */
async function remember(
  agent: Client,
  { question, version, graph, runs: [first = true, ...others] }: StoryProcedure,
  parent: string | undefined,
): Promise<{ id: string; position: string | undefined }> {
  const body = { question, version, graph, parent_id: parent, run: { success: first } };
  const remembered = await agent.post<{ procedure_id: string }>('/v1/procedures', body);
  const id = remembered.body.procedure_id;
  let { position } = remembered;
  for (const success of others) {
    ({ position } = await agent.post(pathOf('v1', 'procedures', id, 'executions'), { success }));
  }
  return { id, position };
}

function runsText(runs: readonly boolean[]): string {
  const worked = runs.filter(Boolean).length;
  return runs.length === 1 ? '1 run, which worked' : `${runs.length} runs, of which ${worked} worked`;
}
