import type { Readable } from 'node:stream';
import { LogUnavailable } from '../errors.js';
import { Wakes } from '../postgres/wakes.js';
import type { Ending } from './ending.js';

/** A stream of the client, and how to end its call. */
export interface Call<Item> {
  readonly stream: Readable;
  cancel(): Promise<void>;
  /** Only for its type. */
  readonly item?: Item;
}

/**
 * Takes items off a stream of the client one by one. What is not taken stays in the stream, a few items of it, and the
 * server is made to wait.
 *
 * To be made in the same turn as the stream: the client reports a failed connection as an event, and one that nobody
 * listens to ends the process.
 */
export class Pull<Item> {
  private readonly wakes = new Wakes();
  private readonly stopListening: (() => void)[];
  private failure: unknown;
  private ended = false;

  /** @param endings of what the call depends on */
  constructor(
    private readonly call: Call<Item>,
    endings: readonly Ending[],
  ) {
    call.stream.on('error', (error) => this.fail(error));
    call.stream.on('readable', () => this.wakes.wake());
    call.stream.on('close', () => this.end());
    call.stream.on('end', () => this.end());
    this.stopListening = endings.map((ending) => ending.onEnd(() => this.fail(new LogUnavailable('the connection was closed'))));
  }

  /**
   * The next item; 'end' when the stream has ended or the signal aborted; 'quiet' when nothing came for `quietMs`.
   *
   * @throws what the stream failed with, once what came before has been taken
   */
  async next(quietMs: number, signal: AbortSignal): Promise<Item | 'end' | 'quiet'> {
    const deadline = performance.now() + quietMs;
    for (;;) {
      const looked = this.wakes.sofar;
      if (signal.aborted) return 'end';
      const item = this.call.stream.read() as Item | null;
      if (item !== null) return item;
      if (this.failure !== undefined) throw this.failure as Error;
      if (this.ended) return 'end';
      const left = deadline - performance.now();
      if (left <= 0) return 'quiet';
      await this.wakes.sleep(left, looked, signal);
    }
  }

  /** Ends the call. Not waited for: a call that has no connection yet cannot be ended yet. */
  stop(): void {
    for (const stop of this.stopListening) stop();
    this.call.cancel().catch(() => undefined);
    // Read to its end, not destroyed: the client keeps every call whose last items nobody took, with its buffers, for ever.
    this.call.stream.removeAllListeners('readable').resume();
  }

  private fail(error: unknown): void {
    this.failure ??= error;
    this.wakes.wake();
  }

  private end(): void {
    this.ended = true;
    this.wakes.wake();
  }
}
