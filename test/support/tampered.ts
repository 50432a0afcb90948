import { randomUUID } from 'node:crypto';
import { streamName } from '../../src/event-log/stream-name.js';
import type { Infrastructure } from '../../src/infrastructure.js';

/** Appends an event that nobody can decode, as a damaged log would hold. @returns its position */
export async function tampered(
  { log, codec }: Pick<Infrastructure, 'log' | 'codec'>,
  team: string,
  type = 'ExecutionFeedbackRecorded',
): Promise<bigint> {
  const stream = streamName(codec.streamPrefix, { kind: 'execution', team, id: randomUUID() });
  const damaged = { id: randomUUID(), type, data: '{}', metadata: '{}' };
  return (await log.append(stream, [damaged], { expected: 'no_stream' })).position;
}
