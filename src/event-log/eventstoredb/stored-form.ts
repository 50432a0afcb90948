import type { EventData, RecordedEvent } from '@eventstore/db-client';
import { LogUnavailable } from '../errors.js';
import type { NewEvent, StoredEvent } from '../event-log.js';
import { maxJsonDepth } from '../json.js';
import { eventPosition } from './positions.js';

/** With it no JSON text begins, so the client, which parses metadata that it can parse, hands these bytes back as they are. */
const byteOrderMark = '\ufeff';

/** What the server writes into a stream when it is deleted for ever. */
const endOfStream = '$streamDeleted';

/**
 * The event as the client sends it. The client writes and reads JSON as values, which loses spaces, doubled names, the
 * order of names that look like numbers, and digits. A text that survives that goes as JSON, so that the server's own
 * tools show it; any other goes as bytes. All texts of the codec survive unless a name begins with a digit.
 *
 * @param event whose texts are JSON
 */
export function proposedEvent({ id, type, data, metadata }: NewEvent): EventData {
  const bytes = new TextEncoder();
  // As bytes in any case: of metadata that is null, false, 0 or "" the client would send nothing.
  const sent = { id, type, metadata: bytes.encode(survives(metadata) ? metadata : byteOrderMark + metadata) };
  return (
    survives(data)
      ? { ...sent, contentType: 'application/json', data: JSON.parse(data) as object }
      : { ...sent, contentType: 'application/octet-stream', data: bytes.encode(data) }
  ) as EventData;
}

/** Undefined for what the server wrote itself. @throws LogUnavailable when the server gives no position, as those before 22.6 */
export function storedEvent(event: RecordedEvent): StoredEvent | undefined {
  if (event.type === endOfStream) return undefined;
  const position = eventPosition(event.position);
  if (position === undefined) throw new LogUnavailable('the server gives no positions: it must be of version 22.10 or newer');
  return {
    id: event.id,
    type: event.type,
    data: textOf(event.data, event.isJson),
    metadata: textOf(event.metadata).replace(/^\ufeff/, ''),
    stream: event.streamId,
    revision: event.revision,
    position,
    recordedAt: event.created,
  };
}

/** Bytes are text as it was written; anything else is what the client parsed. Undefined stands for no bytes at all. */
function textOf(content: unknown, parsed = !(content instanceof Uint8Array)): string {
  if (content === undefined) return '';
  return parsed ? JSON.stringify(content) : Buffer.from(content as Uint8Array).toString('utf8');
}

/**
 * Whether parsing and writing again gives the same text. Values nested too deep count as not: where the client writes them
 * its stack may be deeper than here, and what it throws there ends the process.
 */
function survives(text: string): boolean {
  const value: unknown = JSON.parse(text);
  return !isDeeperThan(maxJsonDepth, value) && JSON.stringify(value) === text;
}

const isDeeperThan = (levels: number, value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  (levels === 0 || Object.values(value).some((member) => isDeeperThan(levels - 1, member)));
