import { teamScopes } from '../../src/access/scopes.js';
import { Client } from '../support/http.js';
import type { Remembered } from '../support/remember.js';

/** A new team remembers, runs, judges, recalls, traces and erases a procedure. @returns what a healthy service makes of it */
export async function mainJob(operator: Client): Promise<unknown> {
  const team = (await operator.post<{ team_id: string }>('/v1/teams', { name: 'after' })).body.team_id;
  const profile = (await operator.post<{ profile_id: string }>('/v1/profiles', { team_id: team, name: 'after' })).body.profile_id;
  const issued = await operator.post<{ key: string }>('/v1/keys', { team_id: team, profile_id: profile, scopes: teamScopes });
  const client = new Client(operator.url, issued.body.key);
  const remembered = await client.post<Remembered>('/v1/procedures', {
    question: 'How do I refund an order?',
    graph: { steps: ['find it', 'refund it'] },
    run: { success: true, answer: 'refunded' },
  });
  const { procedure_id, execution_id } = remembered.body;
  const run = await client.post(`/v1/procedures/${procedure_id}/executions`, { success: true });
  const feedback = await client.post(`/v1/executions/${execution_id}/feedback`, { worked: true, usefulness: 1 });
  const recalled = await client.post<{ matches: { procedure: { procedure_id: string } }[] }>('/v1/procedures/recall', {
    question: 'How do I refund an order?',
    min_position: feedback.position,
  });
  const traced = await client.get<{ events: { type: string }[] }>(
    `/v1/procedures/${procedure_id}/trace?min_position=${feedback.position}`,
  );
  await client.post(`/v1/procedures/${procedure_id}/archive`);
  const erased = await client.delete(`/v1/procedures/${procedure_id}`);
  const gone = await client.get(`/v1/procedures/${procedure_id}?min_position=${erased.position}`);
  return {
    statuses: [remembered, run, feedback, recalled, traced, erased, gone].map(({ status }) => status),
    recalled: recalled.body.matches.map(({ procedure }) => procedure.procedure_id === procedure_id),
    traced: traced.body.events.map(({ type }) => type).sort(),
  };
}
