import { isUuid } from '../uuid.js';

/** A position as clients see it: opaque, and bound to the log it came from. */
export const positionToken = (logId: string, position: bigint): string =>
  Buffer.from(`${logId}@${position}`).toString('base64url');

/** Logs count positions in int8. */
const highestPosition = 2n ** 63n - 1n;

/** Undefined for a text that no log of ours gave out. Whether it is this log's, and not beyond its head, is the caller's to check. */
export function parsePositionToken(text: string): { logId: string; position: bigint } | undefined {
  const decoded = Buffer.from(text, 'base64url').toString();
  const [, logId, position] = /^(.{36})@(-1|0|[1-9][0-9]{0,18})$/.exec(decoded) ?? [];
  if (!isUuid(logId) || position === undefined) return undefined;
  const parsed = { logId, position: BigInt(position) };
  if (parsed.position > highestPosition) return undefined;
  // Decoding skips letters that are not base64url; only the text that was given out is a token.
  return positionToken(parsed.logId, parsed.position) === text ? parsed : undefined;
}
