import type { Answer, Client } from './client.js';

/**
 * Waits until lists show a write. The next command is another process that knows no position to ask for, and people expect
 * to see what they just made.
 */
export async function visible<Body>(client: Client, path: string, answer: Answer<Body>, team?: string): Promise<Answer<Body>> {
  if (answer.position !== undefined) await client.get(path, { limit: 1, team_id: team, min_position: answer.position });
  return answer;
}
