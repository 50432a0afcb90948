import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import { systemTeam } from '../../src/event-log/stream-name.js';
import { type Change, lookup, type Projection, projection, put, type Rows, table } from '../engine/projection.js';

/** A time at which a team learned something, and the events it learned then. */
export type MomentRow = {
  team_id: string;
  /** Recorded time as a running maximum over the team's events, so that it never falls as the position grows. */
  known_at: Date;
  first_position: bigint;
  last_position: bigint;
};

const columns = { team_id: 'uuid', known_at: 'timestamptz', first_position: 'int8', last_position: 'int8' } as const;

/** One row for each millisecond in which a team learned something: events that were appended together share it. */
export const moments = table<MomentRow>({
  name: 'moments',
  columns,
  key: ['team_id', 'known_at'],
  indexes: [['team_id', 'first_position']],
});

/** The last moment of each team again, under a key that the next event can name. */
export const latestMoments = table<MomentRow>({ name: 'latest_moments', columns, key: ['team_id'] });

/**
 * Which position of the log is meant by a time in the past.
 *
 * Recorded time is not asked itself: on a log whose clock was set back, an event may be recorded before the one in front of
 * it, and the events known at a time would not be a beginning of the log. A team's own events only: what other teams do, and
 * when, tells it nothing.
 */
export const momentsOf = (eventTypes: readonly string[]): Projection =>
  projection({
    name: 'moments',
    version: 1,
    eventTypes,
    needsContent: false,
    tables: [moments, latestMoments],
    load: (events) => events.flatMap(({ team }) => (team === systemTeam ? [] : lookup(latestMoments, { team_id: team }))),
    changes(event: RecordedEvent, rows: Rows): Change[] {
      if (event.team === systemTeam) return [];
      const latest = rows.get(latestMoments, { team_id: event.team });
      if (latest && latest.last_position >= event.position) return [];
      const moment = momentOf(event, latest);
      return [put(moments, moment), put(latestMoments, moment)];
    },
  });

function momentOf({ team, position, recordedAt }: RecordedEvent, latest: MomentRow | undefined): MomentRow {
  if (latest && latest.known_at >= recordedAt) return { ...latest, last_position: position };
  return { team_id: team, known_at: recordedAt, first_position: position, last_position: position };
}
