/** How much may be on its way at once. */
export interface FlightLimits {
  readonly count: number;
  readonly bytes: number;
}

/** Lets one sender go on while there is room: with too much on its way, the last of it would not arrive in time. */
export class InFlight {
  private count = 0;
  private bytes = 0;
  private goOn: () => void = () => undefined;

  constructor(private readonly limits: FlightLimits) {}

  /** Resolves when there is room for so many bytes, which then are on their way. What is larger than all the room goes alone. */
  async enter(bytes: number): Promise<void> {
    while (this.count > 0 && (this.count >= this.limits.count || this.bytes + bytes > this.limits.bytes)) {
      await new Promise<void>((resolve) => (this.goOn = resolve));
    }
    this.count += 1;
    this.bytes += bytes;
  }

  leave(bytes: number): void {
    this.count -= 1;
    this.bytes -= bytes;
    this.goOn();
  }
}
