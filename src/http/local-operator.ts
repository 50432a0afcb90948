import { Injectable } from '@nestjs/common';
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { operatorScopes } from '../access/scopes.js';
import type { Actor } from './authentication.js';

/** Key id in the events that the command line causes. */
export const localOperatorKeyId = 'local-operator';

/**
 * The operator that runs the service inside its own process: the command line, when no service runs. Its key is random,
 * lives in memory only, and ends with the process.
 */
@Injectable()
export class LocalOperator {
  readonly key = `mneme-local_${randomBytes(32).toString('base64url')}`;
  private readonly digest = sha256(this.key);

  authenticate(key: string): Actor | undefined {
    if (!timingSafeEqual(sha256(key), this.digest)) return undefined;
    return { keyId: localOperatorKeyId, scopes: operatorScopes, operator: true };
  }
}

const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();
