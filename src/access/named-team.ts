import { systemTeam } from '../event-log/stream-name.js';
import type { Actor } from '../http/authentication.js';
import { fieldProblem, notFound } from '../http/http-problem.js';

/**
 * The team a request is about: that of the key, or the one an operator names.
 *
 * @throws HttpProblem 404 when the key is another team's, as if the named one did not exist; 422 when an operator names none
 */
export function namedTeam(actor: Actor, named: string | undefined): string {
  const team = namedTeamOrOperators(actor, named);
  if (team === systemTeam) throw fieldProblem('team_id', 'required', 'operators must name the team');
  return team;
}

/** The same, where an operator that names no team means the operator keys (`system`). */
export function namedTeamOrOperators({ team }: Actor, named: string | undefined): string {
  if (team === undefined) return named ?? systemTeam;
  if (named !== undefined && named !== team) throw notFound();
  return team;
}
