/** A moment of the past that a read is of: the log up to a position. */
export interface AsOf {
  /** Last position that counts; -1 when nothing was known yet. */
  readonly position: bigint;
  /** The moment's own clock, by which freshness is told; null for a position before the first event. */
  readonly time: Date | null;
}
