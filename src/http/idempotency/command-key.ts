import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { createHmac } from 'node:crypto';
import { DataKeys, type KeyRef } from '../../encryption/data-keys.js';
import { commandIdFromKey } from '../../event-log/ids.js';
import { canonicalJson, type JsonValue } from '../../event-log/json.js';
import { systemTeam } from '../../event-log/stream-name.js';
import { actorOf } from '../authentication.js';
import { HttpProblem } from '../http-problem.js';
import { jsonProblem } from '../validation/json-limits.js';

/** A command as its `Idempotency-Key` and its request identify it. */
export interface CommandKey {
  /** UUID, or `system`. */
  readonly team: string;
  readonly commandId: string;
  /**
   * HMAC of the whole request: equal for a repetition, different for another request under the same key. Undefined for a
   * body that will be refused anyway: it may be too deep to be written down, or no JSON at all (1e999).
   */
  readonly fingerprint: string | undefined;
}

/** Owner of the secret that ids of a team's commands and memories derive from. */
export const teamSecret = (team: string): KeyRef => ({ team, owner: team });

/** 1 to 255 visible ASCII characters. @throws HttpProblem 422 `idempotency_key_invalid` */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new HttpProblem(422, 'idempotency_key_invalid', { field: 'Idempotency-Key' });
  }
  return header;
}

/** The commands that requests with an `Idempotency-Key` name. */
@Injectable()
export class CommandKeys {
  private readonly known = new WeakMap<FastifyRequest, CommandKey>();

  constructor(private readonly keys: DataKeys) {}

  /** Undefined without the header. @throws HttpProblem 422 `idempotency_key_invalid`; what `DataKeys.derived` throws */
  async of(request: FastifyRequest): Promise<CommandKey | undefined> {
    const key = idempotencyKeyOf(request.headers['idempotency-key']);
    if (key === undefined) return undefined;
    const known = this.known.get(request) ?? (await this.derive(request, key));
    this.known.set(request, known);
    return known;
  }

  private async derive(request: FastifyRequest, key: string): Promise<CommandKey> {
    const team = actorOf(request)?.team ?? systemTeam;
    const secret = await this.keys.derived(teamSecret(team), 'command');
    return { team, commandId: commandIdFromKey(secret, key), fingerprint: fingerprintOf(request, secret) };
  }
}

function fingerprintOf({ method, url, headers, body }: FastifyRequest, secret: Buffer): string | undefined {
  if (body !== undefined && (typeof body !== 'object' || body === null || jsonProblem(body))) return undefined;
  const said = canonicalJson([method, url, headers['if-match'] ?? null, (body ?? null) as JsonValue]);
  return createHmac('sha256', secret).update(said).digest('hex');
}
