import { randomUUID } from 'node:crypto';
import type { EventDefinitions } from './event-catalogue.js';
import { executeCommand } from './execute.js';
import { newCommandId } from './ids.js';
import { systemTeam, type StreamId } from './stream-name.js';
import type { Streams } from './streams.js';

/** The first event of a log. Checkpoints and position tokens carry the id, so that those of another log are noticed. */
export interface LogEvent {
  readonly type: 'LogCreated';
  readonly log_id: string;
}

export const logEvents: EventDefinitions<LogEvent> = { LogCreated: { version: 1 } };

export const logStream: StreamId = { kind: 'log', team: systemTeam, id: 'log' };

/** Reads the log's id, which the first start makes. @throws what executeCommand throws */
export async function openLog(streams: Streams): Promise<{ logId: string }> {
  const known = await logIdOf(streams);
  if (known !== undefined) return { logId: known };
  const commandId = newCommandId();
  await executeCommand<LogEvent>(streams, {
    stream: logStream,
    context: { commandId, correlationId: commandId, team: systemTeam },
    decide: (events) => (events.length > 0 ? [] : [{ type: 'LogCreated', log_id: randomUUID() }]),
  });
  const logId = await logIdOf(streams);
  if (logId === undefined) throw new Error('the log has no LogCreated event after it was written');
  return { logId };
}

const logIdOf = async (streams: Streams): Promise<string | undefined> =>
  (await streams.load<LogEvent>(logStream)).events[0]?.data.log_id;

/** The log this process works on; an injection token. */
export class LogIdentity {
  constructor(readonly logId: string) {}
}
