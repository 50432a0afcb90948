import {
  type AllStreamResolvedEvent,
  type AllStreamSubscription,
  type EventStoreDBClient,
  type SubscribeToAllOptions,
} from '@eventstore/db-client';

type Entry = string | bigint;

/** Subscribes with the real client and writes down what comes, in order: positions of events, and words for the rest. */
export class SubscriptionLog {
  readonly entries: Entry[] = [];
  readonly events: NonNullable<AllStreamResolvedEvent['event']>[] = [];
  readonly checkpoints: { readonly commit: bigint; readonly prepare: bigint }[] = [];
  /** What it ended with: an error, or nothing; undefined while it is open. */
  ended: { readonly error?: Error } | undefined;
  readonly subscription: AllStreamSubscription;
  private notify: () => void = () => undefined;

  constructor(client: EventStoreDBClient, options: SubscribeToAllOptions = {}) {
    const { filter } = options;
    if (filter) {
      filter.checkpointReached = (_, position) => {
        this.checkpoints.push(position);
        this.add('checkpoint');
        return Promise.resolve();
      };
    }
    this.subscription = client.subscribeToAll(options);
    this.subscription
      .on('confirmation', () => this.add('confirmation'))
      .on('caughtUp', () => this.add('caught_up'))
      .on('fellBehind', () => this.add('fell_behind'))
      .on('data', ({ event }: AllStreamResolvedEvent) => {
        if (!event) return;
        this.events.push(event);
        this.add(event.position.commit);
      })
      .on('error', (error: Error) => this.finish({ error }))
      .on('end', () => this.finish({}));
  }

  get words(): string[] {
    return this.entries.map((entry) => (typeof entry === 'string' ? entry : 'event'));
  }

  /** How often the word was there. */
  count(word: string): number {
    return this.words.filter((other) => other === word).length;
  }

  /** @throws when it does not come true within 5 s */
  async until(condition: (log: this) => boolean): Promise<void> {
    const deadline = performance.now() + 5_000;
    while (!condition(this)) {
      if (performance.now() > deadline) throw new Error(`waited in vain; so far: ${this.words.join(', ')}`);
      await new Promise<void>((resolve) => {
        this.notify = resolve;
        setTimeout(resolve, 500).unref();
      });
    }
  }

  /** @returns the error, if it ended with one */
  async end(): Promise<Error | undefined> {
    await this.until(({ ended }) => ended !== undefined);
    return this.ended?.error;
  }

  private add(entry: Entry): void {
    this.entries.push(entry);
    this.notify();
  }

  private finish(ended: { readonly error?: Error }): void {
    this.ended ??= ended;
    this.notify();
  }
}
