import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { firstValueFrom, from, type Observable } from 'rxjs';
import { Configuration } from '../../config/configuration.js';
import { HttpProblem } from '../http-problem.js';
import { Receipt } from '../receipts.js';
import { type CommandKey, CommandKeys } from './command-key.js';
import { type CommandOnce, CommandTable, type StoredReceipt } from './command-table.js';
import { InFlight } from './in-flight.js';

const writeMetadata = 'mneme:write';

/** Marks a route that writes: its `Idempotency-Key` counts. */
export const Write = () => SetMetadata(writeMetadata, true);

/**
 * Answers a repeated command with the receipt of the first: the same request under the same key is carried out once, another
 * request under the same key is refused.
 *
 * No row is written before the append, so a crash never leaves a command that is neither done nor repeatable: what the
 * command table does not know, the events of the stream do. Refusals are not remembered.
 */
@Injectable()
export class IdempotencyInterceptor implements NestInterceptor {
  private readonly inFlight = new InFlight<StoredReceipt>();

  constructor(
    private readonly reflector: Reflector,
    private readonly commands: CommandKeys,
    private readonly table: CommandTable,
    private readonly configuration: Configuration,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const writes = this.reflector.get<boolean | undefined>(writeMetadata, context.getHandler());
    const command = writes ? await this.commands.of(request) : undefined;
    if (!isWhole(command)) return next.handle();
    return from(this.once(command, http.getResponse<FastifyReply>(), next));
  }

  private async once(command: CommandOnce, reply: FastifyReply, next: CallHandler): Promise<unknown> {
    let own: unknown;
    const work = async () => {
      const earlier = await this.table.find(command);
      if (earlier) return earlier;
      own = await firstValueFrom(next.handle());
      return this.keep(command, own, reply);
    };
    const receipt = await this.inFlight.share(
      `${command.team}|${command.commandId}`,
      work,
      this.configuration.idempotencyPatienceMs,
    );
    if (!receipt) throw new HttpProblem(409, 'command_in_flight', { headers: { 'retry-after': '1' } });
    if (own !== undefined) return own;
    if (receipt.fingerprint !== command.fingerprint)
      throw new HttpProblem(422, 'idempotency_key_reused', { field: 'Idempotency-Key' });
    void reply.status(receipt.status);
    return new Receipt(receipt.body, receipt);
  }

  private async keep(command: CommandOnce, answer: unknown, reply: FastifyReply): Promise<StoredReceipt> {
    if (!(answer instanceof Receipt)) throw new Error('a write answers with a receipt');
    const { repeatable, written } = answer as Receipt<object>;
    const { fingerprint } = command;
    const receipt = {
      fingerprint,
      status: reply.statusCode,
      body: repeatable,
      position: written.position,
      revision: written.revision,
    };
    await this.table.keep(command, receipt);
    return receipt;
  }
}

const isWhole = (command: CommandKey | undefined): command is CommandOnce => command?.fingerprint !== undefined;
