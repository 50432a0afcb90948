import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { actorOf } from '../authentication.js';
import { countsAsMetadata, type LimitName, limitHeaders, RateLimits } from './rate-limits.js';

/** Counts each request of a key against the limit of its route. Comes after authentication: a key is one that may be used. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(
    private readonly limits: RateLimits,
    private readonly reflector: Reflector,
  ) {}

  /** @throws HttpProblem 429 `rate_limited` */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const actor = actorOf(http.getRequest<FastifyRequest>());
    const name = this.limitOf(context);
    const allowance = this.limits.allowance(name);
    if (!actor || !allowance) return true;
    const spent = this.limits.allowances.spend(`${name} ${actor.keyId}`, allowance);
    if (!spent.allowed) throw this.limits.refused(name, allowance, spent);
    void http.getResponse<FastifyReply>().headers(limitHeaders(name, allowance, spent));
    return true;
  }

  private limitOf(context: ExecutionContext): LimitName {
    const targets = [context.getHandler(), context.getClass()];
    return this.reflector.getAllAndOverride<LimitName | undefined>(countsAsMetadata, targets) ?? 'reads';
  }
}
