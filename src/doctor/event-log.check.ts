import type { Database } from '../database/database.js';
import { isDatabaseFailure, isDatabaseUnavailable } from '../database/errors.js';
import { exceptionType } from '../embedding/errors.js';
import { isAccessDenied, isLogUnavailable } from '../event-log/errors.js';
import type { EventLog } from '../event-log/event-log.js';
import { logStream } from '../event-log/log-identity.js';
import { streamName } from '../event-log/stream-name.js';
import { newestEvent } from './clock.check.js';
import { unreachable } from './database.check.js';
import { findingsOf, type Finding } from './finding.js';

const { ok, warning, failed } = findingsOf('event log');

export interface LogUnderTest {
  readonly log: EventLog;
  readonly streamPrefix: string;
  /** For messages: `PostgreSQL`, or `EventStoreDB`. */
  readonly kind: string;
  /** What a server of its own says of itself, and when its last event was stored. */
  readonly server?: () => Promise<{ readonly version: string; readonly newest: Date | undefined }>;
}

/** Whether it answers, and whether the read models follow this log and no other. Changes nothing. */
export async function checkEventLog(
  { log, streamPrefix, kind, server }: LogUnderTest,
  database: Database | undefined,
  now: () => number,
): Promise<{ findings: Finding[]; head: bigint | undefined }> {
  try {
    const head = await log.head();
    const of = await server?.();
    const findings = [
      ...(of ? [versionFinding(kind, of.version)] : []),
      ok(`the log in ${kind} ends at position ${head}`),
      ...newestFindings(of ? of.newest : await newestOf(log, head), now()),
    ];
    const logId = await logIdOf(log, streamPrefix);
    const followers = database ? await checkpoints(database) : [];
    return { findings: [...findings, ...followers.map((follower) => followerFinding(follower, { logId, head }))], head };
  } catch (error) {
    return { findings: [failure(kind, error)], head: undefined };
  }
}

function failure(kind: string, error: unknown): Finding {
  if (isAccessDenied(error))
    return failed(
      `${kind} refuses the credentials, or the right to read`,
      'correct EVENTSTORE_URL; the user needs to read $all, see docs/eventstoredb.md',
    );
  if (isLogUnavailable(error)) return failed(`${kind} cannot be reached`, 'start it, or correct the address of the log');
  if (isDatabaseFailure(error) || isDatabaseUnavailable(error)) return unreachable(error);
  return failed(`${kind} cannot be read (${exceptionType(error)})`, 'see docs/eventstoredb.md');
}

/** Servers before it lack what the adapter relies on. */
const oldestServer = [22, 10] as const;

export function versionFinding(kind: string, version: string): Finding {
  const [major, minor] = version.split('.').map(Number);
  if (major === undefined || minor === undefined || Number.isNaN(major) || Number.isNaN(minor))
    return warning(`${kind} does not say its version in a way we know`, 'use EventStoreDB 22.10 or newer, or KurrentDB');
  const tooOld = major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1]);
  if (tooOld) return failed(`${kind} ${major}.${minor} is too old`, 'use EventStoreDB 22.10 or newer, or KurrentDB');
  return ok(`${kind} has version ${major}.${minor}`);
}

const newestFindings = (newest: Date | undefined, now: number): Finding[] => (newest ? [newestEvent(newest, now)] : []);

/** For logs whose positions are consecutive. */
async function newestOf(log: EventLog, head: bigint): Promise<Date | undefined> {
  if (head < 0n) return undefined;
  for await (const { recordedAt } of log.readAll({ after: head - 1n, prefix: '', until: head })) return recordedAt;
  return undefined;
}

async function logIdOf(log: EventLog, streamPrefix: string): Promise<string | undefined> {
  for await (const { data } of log.readStream(streamName(streamPrefix, logStream), { limit: 1 })) {
    const { log_id } = JSON.parse(data) as { log_id?: unknown };
    if (typeof log_id === 'string') return log_id;
  }
  return undefined;
}

export interface Follower {
  readonly name: string;
  readonly log_id: string;
  readonly position: bigint;
}

const checkpoints = (database: Database): Promise<Follower[]> =>
  database.as('mneme_system', (queries) =>
    queries.query<Follower>(
      `SELECT 'the projections' AS name, log_id, position FROM mneme.projection_group
       UNION ALL SELECT name, log_id::text, position FROM mneme.consumers ORDER BY name`,
    ),
  );

export function followerFinding(
  { name, log_id, position }: Follower,
  { logId, head }: { logId: string | undefined; head: bigint },
): Finding {
  const advice = 'connect the database that belongs to the log; docs/projections.md says how to begin anew';
  const whose = `the checkpoint of ${name}`;
  if (logId === undefined) return failed(`${whose} is of another log: this one is empty`, advice);
  if (log_id !== logId) return failed(`${whose} is of the log ${log_id}, but this one is ${logId}`, advice);
  if (position > head)
    return failed(
      `${whose} is at ${position}, but the log ends at ${head}`,
      'the log was restored to an earlier moment: restore the database to that moment too',
    );
  return ok(`${whose} is at ${position} of this log`);
}
