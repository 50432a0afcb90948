import { isUuid } from '../uuid.js';
import { AppendTooLarge } from './errors.js';
import { appendSizeLimit, eventSizeLimit, type Append, type NewEvent } from './event-log.js';

/** What was to be appended is not an append: a defect of the caller. Nothing was sent. The message holds no content. */
export class InvalidAppend extends Error {
  readonly code = 'invalid_append';
}

export const isInvalidAppend = (error: unknown): error is InvalidAppend => error instanceof InvalidAppend;

/** Bytes of UTF-8 of a stream name or an event type: PostgreSQL indexes at most 2,704 bytes an entry, and names are short. */
export const nameSizeLimit = 1024;

/** Half of a UTF-16 pair has no UTF-8 form: it would be stored as U+FFFD, other bytes than were hashed. */
const halfOfAPair = /\p{Surrogate}/u;

/**
 * What every adapter refuses before the wire.
 *
 * @returns bytes of the append
 * @throws InvalidAppend, AppendTooLarge
 */
export function checkAppend({ stream, events, expected }: Append): number {
  checkName('the stream name', stream);
  if (expected !== 'no_stream' && expected < 0n) throw new InvalidAppend(`expected revision ${expected} is below 0`);
  if (events.length === 0) throw new InvalidAppend('an append has at least one event');
  if (new Set(events.map(({ id }) => id)).size < events.length) throw new InvalidAppend('two events of the append have one id');
  const bytes = events.reduce((sum, event, index) => sum + checkEvent(event, index), 0);
  if (bytes > appendSizeLimit) throw new AppendTooLarge(bytes, appendSizeLimit);
  return bytes;
}

function checkEvent({ id, type, data, metadata }: NewEvent, index: number): number {
  if (!isUuid(id)) throw new InvalidAppend(`the id of event ${index} is not a UUID in lower case`);
  checkName(`the type of event ${index}`, type);
  const bytes = Buffer.byteLength(data) + Buffer.byteLength(metadata);
  // Before parsing, which takes longer the larger the text is.
  if (bytes > eventSizeLimit) throw new AppendTooLarge(bytes, eventSizeLimit);
  checkJson(`data of event ${index}`, data);
  checkJson(`metadata of event ${index}`, metadata);
  return bytes;
}

function checkName(what: string, name: string): void {
  if (name === '') throw new InvalidAppend(`${what} is empty`);
  if (Buffer.byteLength(name) > nameSizeLimit) throw new InvalidAppend(`${what} is longer than ${nameSizeLimit} bytes`);
  checkText(what, name);
}

function checkJson(what: string, text: string): void {
  checkText(what, text);
  try {
    JSON.parse(text);
  } catch {
    throw new InvalidAppend(`${what} is not JSON`); // the parser's own message quotes the text
  }
}

function checkText(what: string, text: string): void {
  if (text.includes('\0')) throw new InvalidAppend(`${what} contains U+0000`);
  if (halfOfAPair.test(text)) throw new InvalidAppend(`${what} contains half of a surrogate pair`);
}
