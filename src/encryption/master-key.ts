import { decrypt, encrypt, keyBytes } from './aes-gcm.js';
import { KeyUnavailable } from './errors.js';

/** The key that wraps all data keys. It lives in the environment or the data folder, never in the database. */
export class MasterKey {
  // A private field of the language, so that printing or serialising the object shows nothing of it.
  readonly #key: Buffer;

  /** @param key 32 bytes */
  constructor(key: Buffer) {
    if (key.length !== keyBytes) throw new TypeError(`the master key has ${key.length} bytes, it must have ${keyBytes}`);
    this.#key = Buffer.from(key);
  }

  /** @param aad where the key belongs, so that two wrapped keys cannot be swapped */
  wrap(key: Buffer, aad: string): Buffer {
    return encrypt(this.#key, key, aad);
  }

  /** @throws KeyUnavailable for another master key, another place, or altered bytes */
  unwrap(wrapped: Buffer, aad: string): Buffer {
    const key = decrypt(this.#key, wrapped, aad);
    if (key?.length !== keyBytes) throw new KeyUnavailable();
    return key;
  }
}
