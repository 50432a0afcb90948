import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { map, type Observable } from 'rxjs';
import type { Written } from '../event-log/execute.js';
import { Positions } from './positions.js';

/**
 * The answer to a write: `return new Receipt({ procedure_id }, result)`. Its body derives from the command and its events
 * only, so that a repeated command gets the same one.
 */
export class Receipt<Body extends object> {
  /** @param repeatable what a repetition is answered with, where the body holds something that is shown once only */
  constructor(
    readonly body: Body,
    readonly written: Written,
    readonly repeatable: Body = body,
  ) {}
}

const isReceipt = (result: unknown): result is Receipt<object> => result instanceof Receipt;

/** Writes a receipt's position and revision into the headers `Mneme-Position` and `ETag`. */
@Injectable()
export class ReceiptInterceptor implements NestInterceptor {
  constructor(private readonly positions: Positions) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    return next.handle().pipe(map((result: unknown) => (isReceipt(result) ? this.unwrap(result, reply) : result)));
  }

  private unwrap({ body, written }: Receipt<object>, reply: FastifyReply): object {
    if (written.position >= 0n) void reply.header('mneme-position', this.positions.token(written.position));
    if (written.revision !== 'no_stream') void reply.header('etag', `"${written.revision}"`);
    return body;
  }
}
