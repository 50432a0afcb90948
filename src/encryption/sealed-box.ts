import { decrypt, encrypt } from './aes-gcm.js';
import { IntegrityError } from './errors.js';

/** Where a box belongs. Bound to it by the cipher, so that a box copied to another place does not open. */
export interface BoxPlace {
  readonly team: string;
  readonly stream: string;
  readonly eventId: string;
  /** Memory whose data key seals the box. */
  readonly owner: string;
}

const algorithm = 'A256GCM.';

/** Unambiguous, because neither teams, event ids nor key owners contain a bar. */
export const boxAad = ({ team, stream, eventId, owner }: BoxPlace): string => `${team}|${stream}|${eventId}|${owner}`;

/** `A256GCM.` and base64url of nonce (12 bytes), ciphertext and tag (16 bytes). */
export function seal(key: Buffer, plaintext: string, aad: string): string {
  return algorithm + encrypt(key, Buffer.from(plaintext), aad).toString('base64url');
}

/** @throws IntegrityError when the text is no box, or key or additional data are not those it was sealed with */
export function open(key: Buffer, text: string, aad: string): string {
  const encoded = text.slice(algorithm.length);
  const sealed = Buffer.from(encoded, 'base64url');
  // Decoding skips letters that are not base64url; without the comparison, two texts would be the same box.
  if (!text.startsWith(algorithm) || sealed.toString('base64url') !== encoded) throw new IntegrityError();
  const plaintext = decrypt(key, sealed, aad);
  if (!plaintext) throw new IntegrityError();
  return plaintext.toString();
}
