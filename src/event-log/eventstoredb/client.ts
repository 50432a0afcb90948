import type { Duplex } from 'node:stream';
import { EventStoreDBClient, type SingleNodeOptions } from '@eventstore/db-client';
import type { ClientSettings } from './connection-string.js';
import { Ending } from './ending.js';

/** What the client asks a server first. */
const question = 'getSupportedMethods';

/** How long the calls of a client that is given up may take to end, in milliseconds. */
const farewellMs = 1000;

/**
 * The client with those of its faults put right that would end the process, or fail appends that have nothing to do with
 * the fault. What is overridden here are the client's own extension points, `protected` in its types.
 */
export class GuardedClient extends EventStoreDBClient {
  /** Ends when the client is given up: a call that the client cancels itself ends like one that is complete. */
  readonly ending = new Ending();
  /** Ends, and is replaced, when the server ends the stream of appends without an error, which the client does not notice. */
  batch = new Ending();
  private lastChannel: Promise<{ close(): void }> | undefined;

  /** @param answerMs how long a server may take to say what it can do, before it is taken for silent */
  constructor({ settings, channel, credentials }: ClientSettings, answerMs: number) {
    super(settings as SingleNodeOptions, channel, credentials);
    const { GRPCStreamCreator: create, execute, getChannel } = this;
    this.GRPCStreamCreator = (Client, name, creator, cache) =>
      create(Client, name, name === 'appendToStream' ? (grpc) => this.guarded(creator(grpc)) : creator, cache);
    this.execute = (Client, name, action) =>
      execute(Client, name, name === question ? (grpc) => action(inTime(grpc, answerMs)) : action);
    this.getChannel = () => {
      const opened = getChannel();
      this.lastChannel = opened;
      return opened;
    };
  }

  /** What the server says of itself, for example `24.10.0`. */
  async serverVersion(): Promise<string> {
    return (await this.capabilities).serverVersion;
  }

  /** Resolves when a server has answered on this connection. Failing, nothing has been sent. */
  async reach(): Promise<void> {
    await this.capabilities;
  }

  /** Calls that the client holds on to. */
  get openCalls(): number {
    return (Reflect.get(this, 'disposableStreams') as ReadonlySet<unknown>).size;
  }

  /** Cancels all its calls and closes its connection. */
  async giveUp(): Promise<void> {
    this.ending.end();
    let timer: NodeJS.Timeout | undefined;
    await Promise.race([this.dispose(), new Promise((resolve) => (timer = setTimeout(resolve, farewellMs)))]);
    clearTimeout(timer);
    // With TLS each client has a connection of its own; without it, grpc-js gives the same one to the next. Not waited for:
    // while the client looks for a cluster, there is no channel yet.
    this.lastChannel?.then((channel) => channel.close()).catch(() => undefined);
  }

  private guarded<Stream>(made: Stream): Stream {
    const stream = made as unknown as Duplex;
    tolerateStrayAnswers(stream);
    neverMakeWait(stream);
    let failed = false;
    stream.once('error', () => (failed = true));
    stream.once('end', () => {
      if (failed) return;
      // Only half of it has ended, so the client would go on using it.
      stream.destroy();
      this.endBatch();
    });
    return made;
  }

  private endBatch(): void {
    const ended = this.batch;
    this.batch = new Ending();
    ended.end();
  }
}

/** The same client, whose one question has a deadline: without one it would keep its connection open for ever. */
function inTime<GrpcClient extends object>(grpc: GrpcClient, milliseconds: number): GrpcClient {
  const ask = Reflect.get(grpc, question) as (...words: unknown[]) => unknown;
  const asks = (nothing: unknown, answer: unknown) => ask.call(grpc, nothing, { deadline: Date.now() + milliseconds }, answer);
  return Object.create(grpc, { [question]: { value: asks } }) as GrpcClient;
}

/**
 * An answer to an append that nobody waits for any more (a second one, or one that comes after the appends were given up)
 * makes the client's listener throw, from where nobody can catch it.
 */
function tolerateStrayAnswers(stream: Duplex): void {
  for (const listener of stream.listeners('data') as ((answer: unknown) => void)[]) {
    stream.off('data', listener);
    stream.on('data', (answer: unknown) => {
      try {
        listener.call(stream, answer);
      } catch {
        // An append whose answer cannot be read fails at its deadline.
      }
    });
  }
}

/**
 * While a full stream makes it wait, the client queues appends, and when the stream fails it rejects them in a place where
 * nobody can catch it. What waits here is held by its appender anyway.
 */
function neverMakeWait(stream: Duplex): void {
  const write = stream.write.bind(stream) as (message: unknown) => boolean;
  stream.write = (message: unknown): boolean => {
    write(message);
    return true;
  };
}
