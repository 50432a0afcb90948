import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { DataKeys, type KeyRef } from '../encryption/data-keys.js';
import type { CommandContext } from '../event-log/command-context.js';
import type { CommandRequest } from '../event-log/execute.js';
import { commandIdFromKey, newCommandId } from '../event-log/ids.js';
import { systemTeam } from '../event-log/stream-name.js';
import { actorOf } from './authentication.js';
import { HttpProblem } from './http-problem.js';

/** A write as the request's headers describe it: `executeCommand(streams, { ...command, stream, decide })`. */
export type HttpCommand = CommandRequest;

/** Owner of the secret that ids of a team's commands and memories derive from. */
export const teamSecret = (team: string): KeyRef => ({ team, owner: team });

const strongOrWeak = /^(?:W\/)?"(0|[1-9][0-9]{0,17})"$/;

/** Undefined without the header, and for `*`. @throws HttpProblem 422 `if_match_invalid` */
export function expectedRevisionOf(header: string | undefined): bigint | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const [, revision] = strongOrWeak.exec(header.trim()) ?? [];
  if (revision === undefined) throw new HttpProblem(422, 'if_match_invalid', { field: 'If-Match' });
  return BigInt(revision);
}

/** 1 to 255 visible ASCII characters. @throws HttpProblem 422 `idempotency_key_invalid` */
export function idempotencyKeyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw new HttpProblem(422, 'idempotency_key_invalid', { field: 'Idempotency-Key' });
  }
  return header;
}

const RequestOf = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<FastifyRequest>(),
);

@Injectable()
export class CommandPipe implements PipeTransform<FastifyRequest, Promise<HttpCommand>> {
  constructor(private readonly keys: DataKeys) {}

  async transform(request: FastifyRequest): Promise<HttpCommand> {
    const actor = actorOf(request);
    if (!actor) throw new Error('a command needs an authenticated route');
    const key = idempotencyKeyOf(request.headers['idempotency-key']);
    const expectedRevision = expectedRevisionOf(request.headers['if-match']);
    const team = actor.team ?? systemTeam;
    const context: CommandContext = {
      commandId: key === undefined ? newCommandId() : await this.commandId(team, key),
      correlationId: request.id,
      team,
      ...(actor.profile !== undefined && { profile: actor.profile }),
      apiKey: actor.keyId,
    };
    return { context, ...(expectedRevision !== undefined && { expectedRevision }) };
  }

  private async commandId(team: string, key: string): Promise<string> {
    return commandIdFromKey(await this.keys.derived(teamSecret(team), 'command'), key);
  }
}

/** Parameter: the write that the request's headers describe (who, `Idempotency-Key`, `X-Correlation-Id`, `If-Match`). */
export const Command = () => RequestOf(CommandPipe);
