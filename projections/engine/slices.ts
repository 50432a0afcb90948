import { setImmediate as turn } from 'node:timers/promises';

/** Longest stretch of work during which nobody else is served, milliseconds. */
const sliceMs = 5;

/** How many calls go by before the clock is looked at. */
const callsPerLook = 16;

/** Cuts long work into slices: requests of this process are answered in between. */
export class Slices {
  private calls = 0;
  private until = performance.now() + sliceMs;

  /** Ask once for every piece of work, such as an event. */
  get over(): boolean {
    return ++this.calls % callsPerLook === 0 && performance.now() > this.until;
  }

  async next(): Promise<void> {
    await turn();
    this.until = performance.now() + sliceMs;
  }
}
