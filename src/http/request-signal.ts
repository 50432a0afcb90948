import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply } from 'fastify';

const signals = new WeakMap<FastifyReply, AbortSignal>();

/** Aborted when the client goes away before its answer was written. */
export function requestSignal(reply: FastifyReply): AbortSignal {
  const known = signals.get(reply);
  if (known) return known;
  const controller = new AbortController();
  const { raw } = reply;
  if (raw.destroyed && !raw.writableFinished) controller.abort();
  // The request's own `close` comes as soon as its body was read; only the response tells a client that left from one that waits.
  raw.once('close', () => {
    if (!raw.writableFinished) controller.abort();
  });
  signals.set(reply, controller.signal);
  return controller.signal;
}

/** Parameter: a signal that is aborted when the client goes away, so that work for it can stop. */
export const RequestSignal = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal =>
  requestSignal(context.switchToHttp().getResponse<FastifyReply>()),
);
