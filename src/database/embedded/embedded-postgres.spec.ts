import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { Client } from 'pg';
import { compiledFile } from '../../config/package-root.js';
import { attend, startEmbeddedPostgres } from './embedded-postgres.js';

/** PostgreSQL takes seconds to start, and many when the machine is busy. */
const patience = 60_000;

const pending = (promise: Promise<unknown>) => Promise.race([promise.then(() => false), sleep(50, true)]);

describe('the embedded PostgreSQL', () => {
  it(
    'answers, ends when it is told to, and leaves no socket behind',
    async () => {
      const postgres = await startEmbeddedPostgres(undefined);
      const socketFolder = new URL(postgres.url.replace('postgres@/', 'postgres@here/')).searchParams.get('host') ?? '';
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      expect((await client.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
      await client.end();
      expect(existsSync(socketFolder)).toBe(true);
      await postgres.stop();
      expect(existsSync(socketFolder)).toBe(false);
      expect(await pending(postgres.died)).toBe(true);
      await postgres.stop();
    },
    patience,
  );

  it(
    'cannot start on what is no database',
    async () => {
      await expect(startEmbeddedPostgres('/dev/null/postgres')).rejects.toThrow();
    },
    patience,
  );
});

describe('the thread of the embedded PostgreSQL', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mneme-thread-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  const postgresThread = () =>
    new Worker(compiledFile('src/database/embedded/embedded-postgres.worker.js'), {
      workerData: { dataDirectory: undefined, socketPath: join(folder, 'socket') },
      execArgv: [],
    });
  const thread = (script: string) =>
    new Worker(`const { parentPort } = require('node:worker_threads'); ${script}`, { eval: true, execArgv: [] });
  const ready = `parentPort.postMessage('ready');`;

  it(
    'is missed when it ends by itself, and stopping it afterwards does not wait for it',
    async () => {
      const worker = postgresThread();
      const life = attend(worker);
      await life.ready;
      await worker.terminate();
      expect(await life.died).toMatchObject({ message: 'the embedded PostgreSQL ended with exit code 1' });
      await life.stop();
    },
    patience,
  );

  it('is missed with the error it ended with, which is no uncaught exception', async () => {
    const life = attend(thread(`${ready} setTimeout(() => { throw new Error('out of memory'); }, 5);`));
    await life.ready;
    expect(await life.died).toMatchObject({ message: 'the embedded PostgreSQL failed: out of memory' });
    await life.stop();
  });

  it.each([
    ['an error', `throw new Error('no space left');`, 'no space left'],
    ['an exit', `process.exit(3);`, 'the embedded PostgreSQL ended with exit code 3'],
    ['no more work', ``, 'the embedded PostgreSQL ended with exit code 0'],
  ])('does not start when its start ends with %s', async (_, script, message) => {
    const life = attend(thread(script));
    await expect(life.ready).rejects.toThrow(message);
    await life.stop();
  });

  it('is not missed when it was told to stop', async () => {
    const life = attend(thread(`${ready} parentPort.once('message', () => parentPort.close());`));
    await life.ready;
    await life.stop();
    expect(await pending(life.died)).toBe(true);
  });

  it('tells what went wrong when it was told to stop', async () => {
    const life = attend(thread(`${ready} parentPort.once('message', () => { throw new Error('not written'); });`));
    await life.ready;
    await expect(life.stop()).rejects.toThrow('not written');
    expect(await pending(life.died)).toBe(true);
  });
});
