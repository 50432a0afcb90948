import { type Operation } from './faults.js';
import { type Expected } from './stored-events.js';

/** A call a client has made; for a batch stream each append on it. */
export interface Request {
  readonly operation: Operation;
  /** Name of the stream, `$all`, or nothing where there is none. */
  readonly stream: string;
  /** Ids of the events of an append. */
  readonly ids: readonly string[];
  readonly expected?: Expected;
}

/** Every request so far, in the order in which they came. */
export class Requests {
  readonly all: Request[] = [];
  private waiting: (() => void)[] = [];

  add(request: Request): void {
    this.all.push(request);
    const waiting = this.waiting;
    this.waiting = [];
    for (const look of waiting) look();
  }

  of(operation: Operation): readonly Request[] {
    return this.all.filter((request) => request.operation === operation);
  }

  /** Resolves when there have been so many of an operation. @returns the last of them */
  async until(operation: Operation, count = 1): Promise<Request> {
    for (;;) {
      const found = this.of(operation)[count - 1];
      if (found) return found;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
  }

  clear(): void {
    this.all.length = 0;
  }
}
