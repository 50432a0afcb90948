import { Injectable } from '@nestjs/common';
import { Clock } from '../config/clock.js';
import { systemTeam } from '../event-log/stream-name.js';
import { type Actor, Authenticator } from '../http/authentication.js';
import { LocalOperator } from '../http/local-operator.js';
import { isApiKey } from './api-key.js';
import { ApiKeyHashes } from './api-key-hashes.js';

/** Authenticates API keys by their hashes, and the local operator. */
@Injectable()
export class ApiKeyAuthenticator extends Authenticator {
  constructor(
    private readonly hashes: ApiKeyHashes,
    private readonly localOperator: LocalOperator,
    private readonly clock: Clock,
  ) {
    super();
  }

  async authenticate(text: string): Promise<Actor | undefined> {
    if (!isApiKey(text)) return this.localOperator.authenticate(text);
    const key = await this.hashes.find(text, this.clock.now());
    if (!key) return undefined;
    const { keyId, scopes } = key;
    if (key.team === systemTeam) return { keyId, scopes, operator: true };
    return { team: key.team, ...(key.profile !== undefined && { profile: key.profile }), keyId, scopes, operator: false };
  }
}
