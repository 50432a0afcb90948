import { Recent } from './recent.js';

/** What became of one request against its allowance. */
export interface Spent {
  readonly allowed: boolean;
  /** Requests that may follow at once. */
  readonly remaining: number;
  /** Until one more is allowed; 0 when it was. */
  readonly retryAfterMs: number;
  /** Until the whole allowance is there again. */
  readonly wholeAfterMs: number;
}

/** An allowance of `limit` requests that refills evenly, all of it in `windowMs`. */
export interface Allowance {
  readonly limit: number;
  readonly windowMs: number;
}

/** Trackers kept at most: about 2 MB. */
const mostTrackers = 10_000;

/** Rounding of times must not take a request from anybody. */
const epsilon = 1e-6;

/**
 * The allowances of many trackers, in the memory of this process: one number each, the time at which its allowance is whole
 * again (the generic cell rate algorithm of ATM networks, ITU-T I.371). A request costs the same whatever the limit. When
 * trackers become too many, those that were not heard of for longest are forgotten, which gives them new allowances and
 * nothing else.
 */
export class Allowances {
  private readonly wholeAt: Recent<number>;

  constructor(
    most: number = mostTrackers,
    /** Milliseconds of a clock that never goes back. */
    private readonly now: () => number = () => performance.now(),
  ) {
    this.wholeAt = new Recent(most);
  }

  get size(): number {
    return this.wholeAt.size;
  }

  /** Takes one request from the allowance, where there is one left. */
  spend(tracker: string, allowance: Allowance): Spent {
    const spent = this.look(tracker, allowance);
    if (!spent.allowed) return spent;
    const interval = allowance.windowMs / allowance.limit;
    const wholeAfterMs = spent.wholeAfterMs + interval;
    this.wholeAt.set(tracker, this.now() + wholeAfterMs);
    return { ...spent, remaining: spent.remaining - 1, wholeAfterMs };
  }

  /** Whether one request would be allowed, without taking it. */
  look(tracker: string, { limit, windowMs }: Allowance): Spent {
    const interval = windowMs / limit;
    const wholeAfterMs = Math.max(0, (this.wholeAt.get(tracker) ?? 0) - this.now());
    const remaining = Math.floor((windowMs - wholeAfterMs) / interval + epsilon);
    const allowed = remaining >= 1;
    return { allowed, remaining, retryAfterMs: allowed ? 0 : wholeAfterMs + interval - windowMs, wholeAfterMs };
  }
}
