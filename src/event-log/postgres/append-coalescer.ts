import { setImmediate } from 'node:timers/promises';
import type { Append, AppendOutcome } from '../event-log.js';

/** An append with its size in bytes, as the check measured it. */
export interface SizedAppend extends Append {
  readonly bytes: number;
}

/** Bounds of one batch: about 10 ms under the log's lock, and 16 MB of parameters at most. */
export const batchLimits = { events: 500, bytes: 8 * 1024 * 1024 } as const;

/** Appends that are sent together and answered together. */
interface Group {
  readonly appends: readonly SizedAppend[];
  readonly answer: (outcomes: AppendOutcome[]) => void;
}

/**
 * Gathers the concurrent appends of this process. While one batch is on its way, further appends queue, and together they
 * are the next one, so that many writers pay for one lock, one round trip and one flush to disk (8 writers: about 1,100
 * appends a second one by one, about 8,000 together).
 */
export class AppendCoalescer {
  private readonly queue: Group[] = [];
  private sending: Promise<void> | undefined;

  /** @param send one outcome for each append, in order; never throws */
  constructor(private readonly send: (appends: readonly SizedAppend[]) => Promise<AppendOutcome[]>) {}

  /** Sends them as a whole with others, or, when they exceed a batch, as many full batches in the order given. */
  async submit(appends: readonly SizedAppend[]): Promise<AppendOutcome[]> {
    if (appends.length === 0) return [];
    const groups = split(appends).map(
      (part) => new Promise<AppendOutcome[]>((answer) => this.queue.push({ appends: part, answer })),
    );
    this.sending ??= this.sendAll();
    return (await Promise.all(groups)).flat();
  }

  /** Resolves when all that was submitted has been answered. */
  async idle(): Promise<void> {
    while (this.sending) await this.sending;
  }

  private async sendAll(): Promise<void> {
    while (this.queue.length > 0) {
      // One turn of the event loop: writers that were answered a moment ago, or start together, are in this batch and not
      // in the next. Without it, 8 writers in step fall apart into batches of 1 and 7.
      await setImmediate();
      const groups = this.nextBatch();
      const outcomes = await this.send(groups.flatMap(({ appends }) => appends));
      let answered = 0;
      for (const { appends, answer } of groups) answer(outcomes.slice(answered, (answered += appends.length)));
    }
    // In the same turn as the last look at the queue: a later one would miss what the writers just answered submit.
    this.sending = undefined;
  }

  private nextBatch(): Group[] {
    const size = { events: 0, bytes: 0 };
    const fits = this.queue.findIndex(({ appends }) => {
      for (const append of appends) add(size, append);
      return isOver(size);
    });
    return this.queue.splice(0, fits === -1 ? this.queue.length : Math.max(fits, 1));
  }
}

function split(appends: readonly SizedAppend[]): SizedAppend[][] {
  const parts: SizedAppend[][] = [];
  let size = { events: 0, bytes: 0 };
  for (const append of appends) {
    add(size, append);
    const part = parts.at(-1);
    if (part && !isOver(size)) part.push(append);
    else {
      parts.push([append]);
      size = { events: append.events.length, bytes: append.bytes };
    }
  }
  return parts;
}

interface Size {
  events: number;
  bytes: number;
}

function add(size: Size, append: SizedAppend): void {
  size.events += append.events.length;
  size.bytes += append.bytes;
}

const isOver = ({ events, bytes }: Size): boolean => events > batchLimits.events || bytes > batchLimits.bytes;
