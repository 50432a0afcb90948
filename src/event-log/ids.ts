import { createHmac, randomUUID } from 'node:crypto';
import { stringify, v5 } from 'uuid';

/**
 * Id of the command that a client names by its idempotency key: the same for the same key, and not to be guessed by
 * other teams, because the secret is the team's.
 */
export const commandIdFromKey = (secret: Buffer, idempotencyKey: string): string => hmacUuid(secret, [idempotencyKey]);

export const newCommandId = (): string => randomUUID();

/** Id of something a command makes: the same whenever the command runs again. UUIDv5 of the name under the command's id. */
export const deriveId = (commandId: string, name: string): string => v5(name, commandId);

/** Id of a command's `index`-th event in a stream. */
export const deriveEventId = (commandId: string, stream: string, index: number): string =>
  deriveId(commandId, `event ${index} ${stream}`);

/**
 * Id of a memory with a natural key, so that two equal commands at once meet in one stream. Keyed, because a bare hash
 * would confirm a guess at the natural key.
 *
 * @param generation from 0; one more each time the id of the generation before was erased
 */
export const naturalId = (secret: Buffer, naturalKey: readonly string[], generation: number): string =>
  hmacUuid(secret, [naturalKey, generation]);

/** HMAC-SHA-256 of the JSON text, cut to the layout of a UUIDv5 (122 bits). */
function hmacUuid(secret: Buffer, value: readonly unknown[]): string {
  const bytes = createHmac('sha256', secret).update(JSON.stringify(value)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x50, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return stringify(bytes);
}
