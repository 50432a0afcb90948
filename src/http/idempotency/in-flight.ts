import { inTime } from '../../timer.js';

/** What became of a command. `failed` is not remembered: whoever waited may try. */
type Outcome<Result> = { readonly done: Result } | 'failed';

/**
 * Equal commands of one process, one at a time: the first does the work, the others wait for what it comes to.
 *
 * Between processes nothing waits; there the stream decides, and the later one answers from the events of the first.
 */
export class InFlight<Result> {
  private readonly running = new Map<string, Promise<Outcome<Result>>>();

  /**
   * Does the work, unless the same is being done: then it waits for that and shares its result. When the work before fails,
   * one of those that wait does it anew.
   *
   * @param patienceMs how long to wait for others in all
   * @returns `undefined` when patience is over
   * @throws what this caller's own work throws
   */
  async share(key: string, work: () => Promise<Result>, patienceMs: number): Promise<Result | undefined> {
    const deadline = performance.now() + patienceMs;
    for (let before = this.running.get(key); before; before = this.running.get(key)) {
      const outcome = await inTime(before, deadline - performance.now());
      if (outcome === 'late') return undefined;
      if (outcome !== 'failed') return outcome.done;
    }
    return this.run(key, work);
  }

  private async run(key: string, work: () => Promise<Result>): Promise<Result> {
    const working = work();
    const outcome = working.then(
      (done): Outcome<Result> => ({ done }),
      (): Outcome<Result> => 'failed',
    );
    this.running.set(key, outcome);
    try {
      return await working;
    } finally {
      this.running.delete(key);
    }
  }
}
