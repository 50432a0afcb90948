import { Worker } from 'node:worker_threads';
import type { EmbedMessage, EmbedReply } from './bundled-model.js';
import { EmbeddingUnavailable, exceptionType } from './errors.js';

export interface ThreadOptions {
  /** Compiled file that answers each EmbedMessage with one EmbedReply. */
  readonly file: string;
  /** Threads, 1 or more, each started when it is first needed. */
  readonly count: number;
  /** A thread that takes longer for a job is ended, in milliseconds. */
  readonly stuckAfterMs: number;
}

interface Job {
  readonly urgent: boolean;
  readonly texts: readonly string[];
  readonly settle: (outcome: EmbedReply) => void;
}

interface Thread {
  readonly worker: Worker;
  /** Occupied until its reply, also when nobody waits for it any more. */
  job: Job | undefined;
  stuckTimer: NodeJS.Timeout | undefined;
  failure: string;
}

/**
 * Threads that take jobs from one queue. A thread that crashes or gets stuck fails its own job only, and the next job gets
 * a new one. Idle threads do not keep the process alive.
 */
export class EmbedderThreads {
  private readonly threads = new Set<Thread>();
  private queue: Job[] = [];
  private closed = false;

  constructor(private readonly options: ThreadOptions) {}

  /**
   * @param urgent goes before all that are not
   * @returns the texts' vectors, one after the other
   * @throws EmbeddingUnavailable when the thread fails; what the signal was fired with
   */
  run(texts: readonly string[], { urgent, signal }: { urgent: boolean; signal: AbortSignal }): Promise<Float32Array> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      if (this.closed) return reject(new EmbeddingUnavailable('adapter_error', 'closed'));
      const onAbort = () => {
        this.queue = this.queue.filter((queued) => queued !== job);
        reject(signal.reason as Error);
      };
      const job: Job = {
        urgent,
        texts,
        settle: (outcome) => {
          signal.removeEventListener('abort', onAbort);
          if ('vectors' in outcome) resolve(outcome.vectors);
          else reject(new EmbeddingUnavailable('adapter_error', outcome.failure));
        },
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const behind = urgent ? this.queue.findIndex((queued) => !queued.urgent) : -1;
      this.queue.splice(behind === -1 ? this.queue.length : behind, 0, job);
      this.dispatch();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const job of this.queue.splice(0)) job.settle({ failure: 'closed' });
    for (const thread of this.threads) thread.failure = 'closed';
    await Promise.all([...this.threads].map(({ worker }) => worker.terminate()));
  }

  private dispatch(): void {
    while (this.queue.length > 0 && !this.closed) {
      const thread =
        [...this.threads].find(({ job }) => !job) ?? (this.threads.size < this.options.count ? this.start() : undefined);
      const job = thread && this.queue.shift();
      if (!job) return;
      this.give(thread, job);
    }
  }

  private give(thread: Thread, job: Job): void {
    thread.job = job;
    thread.worker.ref();
    thread.stuckTimer = setTimeout(() => {
      thread.failure = 'stuck';
      void thread.worker.terminate();
    }, this.options.stuckAfterMs).unref();
    thread.worker.postMessage({ texts: job.texts } satisfies EmbedMessage);
  }

  private start(): Thread {
    const worker = new Worker(this.options.file, { execArgv: [] });
    const thread: Thread = { worker, job: undefined, stuckTimer: undefined, failure: 'exited' };
    this.threads.add(thread);
    worker.on('message', (reply: EmbedReply) => {
      this.finish(thread, reply);
      worker.unref();
      this.dispatch();
    });
    worker.on('error', (error) => (thread.failure = exceptionType(error)));
    worker.on('exit', () => {
      this.threads.delete(thread);
      this.finish(thread, { failure: thread.failure });
      this.dispatch();
    });
    return thread;
  }

  private finish(thread: Thread, outcome: EmbedReply): void {
    clearTimeout(thread.stuckTimer);
    const { job } = thread;
    thread.job = undefined;
    job?.settle(outcome);
  }
}
