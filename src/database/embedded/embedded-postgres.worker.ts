import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite-pgvector';
import { PGLiteSocketServer } from '@electric-sql/pglite-socket';
import { parentPort, workerData } from 'node:worker_threads';

/**
 * Runs PostgreSQL (WebAssembly) in a thread of its own, because a tight query loop would starve the service's timers.
 * It speaks the wire protocol on a Unix socket, so the rest of the product sees a PostgreSQL server like any other.
 */
const { dataDirectory, socketPath } = workerData as { dataDirectory: string | undefined; socketPath: string };

const postgres = await PGlite.create({ ...(dataDirectory ? { dataDir: dataDirectory } : {}), extensions: { vector } });
const server = new PGLiteSocketServer({ db: postgres, path: socketPath, maxConnections: 8 });
await server.start();

// The only message that ever comes is the one that asks it to stop.
parentPort?.once('message', () => {
  void (async () => {
    await server.stop();
    await postgres.close();
    parentPort?.postMessage('stopped');
    parentPort?.close();
  })();
});
parentPort?.postMessage('ready');
