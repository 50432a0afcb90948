import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { CommandContext } from '../event-log/command-context.js';
import type { CommandRequest } from '../event-log/execute.js';
import { newCommandId } from '../event-log/ids.js';
import { systemTeam } from '../event-log/stream-name.js';
import { actorOf } from './authentication.js';
import { HttpProblem } from './http-problem.js';
import { CommandKeys } from './idempotency/command-key.js';

/** A write as the request's headers describe it: `executeCommand(streams, { ...command, stream, decide })`. */
export type HttpCommand = CommandRequest;

const strongOrWeak = /^(?:W\/)?"(0|[1-9][0-9]{0,17})"$/;

/** Undefined without the header, and for `*`. @throws HttpProblem 422 `if_match_invalid` */
export function expectedRevisionOf(header: string | undefined): bigint | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const [, revision] = strongOrWeak.exec(header.trim()) ?? [];
  if (revision === undefined) throw new HttpProblem(422, 'if_match_invalid', { field: 'If-Match' });
  return BigInt(revision);
}

const RequestOf = createParamDecorator((_: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<FastifyRequest>(),
);

@Injectable()
export class CommandPipe implements PipeTransform<FastifyRequest, Promise<HttpCommand>> {
  constructor(private readonly commands: CommandKeys) {}

  async transform(request: FastifyRequest): Promise<HttpCommand> {
    const actor = actorOf(request);
    if (!actor) throw new Error('a command needs an authenticated route');
    const key = await this.commands.of(request);
    const expectedRevision = expectedRevisionOf(request.headers['if-match']);
    const team = actor.team ?? systemTeam;
    const context: CommandContext = {
      commandId: key?.commandId ?? newCommandId(),
      ...(key?.fingerprint !== undefined && { fingerprint: key.fingerprint }),
      correlationId: request.id,
      team,
      ...(actor.profile !== undefined && { profile: actor.profile }),
      apiKey: actor.keyId,
    };
    return { context, ...(expectedRevision !== undefined && { expectedRevision }) };
  }
}

/** Parameter: the write that the request's headers describe (who, `Idempotency-Key`, `X-Correlation-Id`, `If-Match`). */
export const Command = () => RequestOf(CommandPipe);
