/** A wait that can be cut short. An end that comes while nobody waits cuts the next wait short. */
export class Pause {
  private ended = false;
  private finish: (() => void) | undefined;

  /** @returns whether it was cut short */
  async wait(milliseconds: number): Promise<boolean> {
    if (!this.ended) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        this.finish = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.finish = undefined;
    }
    const cutShort = this.ended;
    this.ended = false;
    return cutShort;
  }

  end(): void {
    this.ended = true;
    this.finish?.();
  }
}
