import { setTimeout as pause } from 'node:timers/promises';
import { interrupted, isCliFailure } from './failure.js';

/** Attempts of one request in all; what is still refused then will not pass soon. */
const mostAttempts = 20;
/** Longest pause that is accepted from a service, seconds. */
const longestPause = 60;

/**
 * Sends a request again while the service says to come later: too many requests, a dependency that is away for a moment, or
 * read models that are behind. For reads, and for writes that are the same when sent twice.
 */
export async function patiently<T>(signal: AbortSignal, request: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await request();
    } catch (error) {
      const seconds = isCliFailure(error) && repeatable.has(error.facts.status ?? 0) ? (error.facts.retryAfter ?? 1) : undefined;
      if (seconds === undefined || attempt === mostAttempts) throw error;
      await pauseFor(Math.min(seconds, longestPause) * 1_000, signal);
    }
  }
}

const repeatable = new Set([202, 429, 503]);

/** @throws CliFailure when the command is interrupted */
export async function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => {
    throw interrupted();
  });
}
