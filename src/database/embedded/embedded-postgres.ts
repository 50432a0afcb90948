import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { compiledFile } from '../../config/package-root.js';

/** A PostgreSQL that lives inside this process and keeps its data in a folder. */
export interface EmbeddedPostgres {
  /** For `pg`: a connection string to a Unix socket that only this user can open. */
  readonly url: string;
  /** Resolves when it ends without having been told to, with the reason. It does not come back. */
  readonly died: Promise<Error>;
  /** Resolves at once when it has ended already. @throws what it failed with while stopping */
  stop(): Promise<void>;
}

/**
 * Starts it; a new folder takes 2 to 6 seconds, an existing one 1 to 2. It survives kill -9 of the process, not loss of power.
 *
 * @param dataDirectory where the data lives; undefined keeps it in memory
 */
export async function startEmbeddedPostgres(dataDirectory: string | undefined): Promise<EmbeddedPostgres> {
  // Not in the data folder: a Unix socket's path may have 107 characters at most, and a data folder's path may be longer.
  const socketFolder = await mkdtemp(join(tmpdir(), 'mneme-'));
  await chmod(socketFolder, 0o700);
  const worker = new Worker(compiledFile('src/database/embedded/embedded-postgres.worker.js'), {
    workerData: { dataDirectory, socketPath: join(socketFolder, '.s.PGSQL.5432') },
    execArgv: [],
  });
  const life = attend(worker);
  const removeSocket = () => rm(socketFolder, { recursive: true, force: true });
  try {
    await life.ready;
  } catch (error) {
    await removeSocket();
    throw error;
  }
  return {
    url: `postgres://postgres@/postgres?host=${encodeURIComponent(socketFolder)}`,
    died: life.died,
    stop: () => life.stop().finally(removeSocket),
  };
}

interface ThreadLife {
  /** Resolves with the thread's first message. @throws what it ended with instead */
  readonly ready: Promise<void>;
  readonly died: Promise<Error>;
  stop(): Promise<void>;
}

/** Watches a thread from its first moment to its last: an error that nobody listens to would end the whole process. */
export function attend(worker: Worker): ThreadLife {
  let stopping = false;
  let failure: Error | undefined;
  worker.on('error', (error) => (failure ??= failureOf(error)));
  const ended = new Promise<Error>((resolve) => {
    // The last event of every thread, also after an error.
    worker.once('exit', (code) => resolve(failure ?? new Error(`the embedded PostgreSQL ended with exit code ${code}`)));
  });
  const ready = Promise.race([
    new Promise<void>((resolve) => worker.once('message', () => resolve())),
    ended.then((reason) => Promise.reject(reason)),
  ]);
  const died = new Promise<Error>((resolve) => void ended.then((reason) => stopping || resolve(reason)));
  const stop = async () => {
    const earlier = failure;
    stopping = true;
    worker.postMessage('stop');
    await ended;
    if (failure && !earlier) throw failure;
  };
  return { ready, died, stop };
}

/** What a thread throws arrives as a copy, which may be of another realm's classes, or no error at all. */
function failureOf(thrown: unknown): Error {
  const message = typeof thrown === 'object' && thrown !== null && 'message' in thrown ? String(thrown.message) : 'unknown';
  return new Error(`the embedded PostgreSQL failed: ${message}`, { cause: thrown });
}
