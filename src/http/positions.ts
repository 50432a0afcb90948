import { parsePositionToken, positionToken } from '../event-log/position-token.js';
import { HttpProblem } from './http-problem.js';

/** Positions of this log as clients see them: opaque texts. */
export class Positions {
  constructor(private readonly logId: string) {}

  token(position: bigint): string {
    return positionToken(this.logId, position);
  }

  /** @throws HttpProblem 422 `position_invalid` for a text that is no position, or one of another log */
  parse(token: string, field = 'min_position'): bigint {
    const parsed = parsePositionToken(token);
    if (parsed?.logId !== this.logId) throw new HttpProblem(422, 'position_invalid', { field });
    return parsed.position;
  }
}
