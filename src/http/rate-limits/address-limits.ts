import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { clientOf } from './client-address.js';
import { RateLimits } from './rate-limits.js';
import { Recent } from './recent.js';

/** Keys remembered as good, at most. */
const mostGood = 10_000;

/** What a supervisor asks to learn whether the process is to be killed: refusing it would kill the process. */
const neverLimited = '/health/live';

/**
 * Limits what an address may do without a key that works: requests without one, and, apart from them, requests with one that
 * does not.
 *
 * An address may be that of a proxy, with everybody behind it: a bad key there must not lock good ones out. So an address whose
 * bad keys are spent can still use any key that has worked before; only keys never seen are refused unlooked-up.
 */
@Injectable()
export class AddressLimits {
  private readonly good = new Recent<true>(mostGood);

  constructor(private readonly limits: RateLimits) {}

  /** Before anything of the request is read but its head. @throws HttpProblem 429 `rate_limited` */
  arrived(request: FastifyRequest): void {
    const { url } = request.routeOptions;
    const allowance = this.limits.allowance('anonymous');
    if (!allowance || url === neverLimited) return;
    const { authorization } = request.headers;
    const spent =
      authorization === undefined || !url?.startsWith('/v1/')
        ? this.limits.allowances.spend(`anonymous ${clientOf(request.ip)}`, allowance)
        : this.limits.allowances.look(`bad key ${clientOf(request.ip)}`, allowance);
    if (spent.allowed || (authorization !== undefined && this.good.get(digestOf(authorization)) === true)) return;
    throw this.limits.refused('anonymous', allowance, spent);
  }

  /** The request's key works. */
  accepted({ headers: { authorization } }: FastifyRequest): void {
    if (authorization === undefined || !this.limits.allowance('anonymous')) return;
    this.good.set(digestOf(authorization), true);
  }

  /** The request has a key, and it does not work, or works no more. */
  failed(request: FastifyRequest): void {
    const { authorization } = request.headers;
    const allowance = this.limits.allowance('anonymous');
    if (authorization === undefined || !allowance) return;
    this.good.delete(digestOf(authorization));
    this.limits.allowances.spend(`bad key ${clientOf(request.ip)}`, allowance);
  }
}

/** So that no key stays in memory longer than its request. */
const digestOf = (authorization: string): string => createHash('sha256').update(authorization).digest('base64');
