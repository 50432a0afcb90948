import { Injectable, SetMetadata } from '@nestjs/common';
import { Configuration, type RateLimitSettings } from '../../config/configuration.js';
import { Metrics } from '../../metrics/metrics.js';
import { HttpProblem } from '../http-problem.js';
import { type Allowance, Allowances, type Spent } from './allowances.js';

/** Allowances refill within a minute. */
export const windowMs = 60_000;

/** What is limited apart: reads, writes and expensive calls of one key, requests of one address that has shown none. */
export type LimitName = keyof RateLimitSettings;

const limitMetadata = 'mneme:rate-limit';

/** The limit that a route counts against, for the requests of one key. */
export const CountsAs = (limit: Exclude<LimitName, 'anonymous'>) => SetMetadata(limitMetadata, limit);

export const countsAsMetadata = limitMetadata;

/**
 * Operations that cost much more than a read or a write: those that rank, replay, rebuild or check. By the first word of
 * their ids, so that a new one is counted right without a thought.
 */
const expensive = /^(recall|trace|rebuild|verify|switch|rollback|detect|export|evaluate|seal)(_|$)/;

export const limitOfOperation = (id: string, writes: boolean): Exclude<LimitName, 'anonymous'> =>
  expensive.test(id) ? 'expensive' : writes ? 'writes' : 'reads';

/** The limits of this process; each process counts for itself. */
@Injectable()
export class RateLimits {
  readonly allowances = new Allowances();

  constructor(
    private readonly configuration: Configuration,
    private readonly metrics: Metrics,
  ) {}

  /** Undefined where the limit is switched off. */
  allowance(name: LimitName): Allowance | undefined {
    const limit = this.configuration.rateLimits[name];
    return limit === 0 ? undefined : { limit, windowMs };
  }

  /** The answer to a request that its limit does not allow; counted. */
  refused(name: LimitName, { limit }: Allowance, spent: Pick<Spent, 'retryAfterMs' | 'wholeAfterMs'>): HttpProblem {
    this.metrics.rateLimited.inc({ limit: name });
    return new HttpProblem(429, 'rate_limited', {
      detail: `More than ${limit} requests a minute; see Retry-After.`,
      headers: {
        'retry-after': String(Math.max(1, Math.ceil(spent.retryAfterMs / 1_000))),
        ...limitHeaders(name, { limit, windowMs }, { remaining: 0, wholeAfterMs: spent.wholeAfterMs }),
      },
      extensions: { limit: name },
    });
  }
}

/** As the draft "RateLimit header fields for HTTP" has them: what the limit is, and what is left of it. */
export const limitHeaders = (
  name: LimitName,
  allowance: Allowance,
  { remaining, wholeAfterMs }: Pick<Spent, 'remaining' | 'wholeAfterMs'>,
): Record<string, string> => ({
  'ratelimit-policy': `"${name}";q=${allowance.limit};w=${allowance.windowMs / 1_000}`,
  ratelimit: `"${name}";r=${remaining};t=${Math.ceil(wholeAfterMs / 1_000)}`,
});
