/**
 * A number from 0 to 1: what lies outside is moved to the nearer end, and anything that is not a finite number is 0.
 *
 * Infinity is 0 too, not 1: an overflow is a fault upstream, and a fault must not look like a perfect score.
 */
export function bounded(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value)) return 0;
  return Math.min(1, Math.max(0, value));
}
