import type { Queries } from '../../src/database/database.js';

/** Where the log stood at a time, for one team. */
export interface KnownMoment {
  /** Of the team's last event that was known; -1 when nothing was. */
  readonly position: bigint;
  /** Whether the team has learned something since: then later events cannot change what was known at the time. */
  readonly over: boolean;
}

/** `time` in RFC 3339. Both from the primary key's index: the moment at or before the time, and whether there is a later one. */
export async function momentAt(queries: Queries, { team, time }: { team: string; time: string }): Promise<KnownMoment> {
  const [row] = await queries.query<KnownMoment>(
    `SELECT coalesce((SELECT last_position FROM mneme_read.moments
                      WHERE team_id = $1 AND known_at <= $2 ORDER BY known_at DESC LIMIT 1), -1) AS position,
            coalesce((SELECT max(known_at) FROM mneme_read.moments WHERE team_id = $1) > $2, false) AS over`,
    [team, time],
  );
  return row ?? { position: -1n, over: false };
}

/** When the team's last event at or before a position was known; null when there is none. */
export async function timeOfPosition(
  queries: Queries,
  { team, position }: { team: string; position: bigint },
): Promise<Date | null> {
  const [row] = await queries.query<{ known_at: Date }>(
    `SELECT known_at FROM mneme_read.moments WHERE team_id = $1 AND first_position <= $2 ORDER BY first_position DESC LIMIT 1`,
    [team, position],
  );
  return row?.known_at ?? null;
}
