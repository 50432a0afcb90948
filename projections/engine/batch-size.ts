/** Work of one transaction on the embedded database, whose single connection every reader waits for, milliseconds. */
const targetMs = 25;
const smallest = 20;

/** How many events the next transaction takes: as many as fit the time on the embedded database, `largest` elsewhere. */
export class BatchSize {
  private size: number;

  constructor(
    private readonly largest: number,
    private readonly adaptive: boolean,
  ) {
    this.size = adaptive ? Math.min(largest, 100) : largest;
  }

  get events(): number {
    return this.size;
  }

  /** Learns from a transaction. Grows by half at most, and only when it was full: a small one says nothing about a large one. */
  took(events: number, milliseconds: number): void {
    if (!this.adaptive || events === 0) return;
    const fitting = Math.floor((events * targetMs) / Math.max(milliseconds, 1));
    if (milliseconds > targetMs) this.size = Math.max(Math.min(smallest, this.largest), Math.min(this.size, fitting));
    else if (events >= this.size)
      this.size = Math.min(this.largest, Math.max(this.size, Math.min(fitting, Math.ceil(this.size * 1.5))));
  }
}
