import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder } from '../test/support/command-line.js';
import { addressOf, spawnService, type StartingProcess } from '../test/support/service-process.js';

/** An embedded database takes seconds to start, and many when the machine is busy. */
const patience = 120_000;

/** One for all: making another database would take seconds. */
const folder = temporaryFolder();
afterAll(() => folder.remove());

const settings = { MNEME_DATA: folder.path, MNEME_EMBEDDING_PROVIDER: 'shared_words' };
const locks = () => readdirSync(folder.path).filter((name) => name.endsWith('.lock'));

let running: StartingProcess | undefined;
afterEach(async () => {
  running?.child.kill('SIGKILL');
  await running?.exited;
});

function start(more: Readonly<Record<string, string>> = {}, options: readonly string[] = []): StartingProcess {
  running = spawnService({ ...settings, ...more }, options);
  return running;
}

/** It has taken the folder: the database, which is next, takes a second and more. */
async function starting(): Promise<StartingProcess> {
  const service = start();
  while (locks().length === 0) await sleep(2);
  return service;
}

async function taken<T>(use: (port: number) => Promise<T>): Promise<T> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await use((server.address() as AddressInfo).port);
  } finally {
    server.close();
  }
}

describe('the service as a process', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)(
    'ends with 0 at %s, and leaves the folder free',
    async (signal) => {
      const service = start();
      await addressOf(service);
      expect(locks()).toHaveLength(1);
      service.child.kill(signal);
      expect([await service.exited, service.printed.stderr, locks()]).toEqual([0, '', []]);
    },
    patience,
  );

  it(
    'ends the start that it is told to stop in, and then itself',
    async () => {
      const service = await starting();
      service.child.kill('SIGTERM');
      expect([await service.exited, service.printed.stderr, locks()]).toEqual([0, '', []]);
      expect(service.printed.stdout).not.toContain('Mneme serves');
      expect(existsSync(join(folder.path, 'postgres/PG_VERSION'))).toBe(true);
    },
    patience,
  );

  it(
    'ends at once when it is told twice',
    async () => {
      const service = await starting();
      service.child.kill('SIGTERM');
      await sleep(50);
      service.child.kill('SIGTERM');
      expect(await service.exited).toBe(130);
    },
    patience,
  );

  it(
    'says in a line that its port is taken, and leaves the folder free',
    async () =>
      taken(async (port) => {
        const service = start({ MNEME_PORT: String(port) });
        expect(await service.exited).toBe(1);
        expect(service.printed.stderr).toBe(`port ${port} of 127.0.0.1 is in use; set MNEME_PORT to another one\n`);
        expect(locks()).toEqual([]);
      }),
    patience,
  );

  it(
    'says in a line each which settings are wrong',
    async () => {
      const service = start({ MNEME_PORT: 'x', MNEME_PROT: '1' });
      expect(await service.exited).toBe(1);
      expect(service.printed.stderr).toMatch(/^The configuration is invalid:\n {2}MNEME_PROT: .+\n {2}MNEME_PORT: .+\n$/);
    },
    patience,
  );

  it(
    'ends with 1 at once when its embedded database ends by itself',
    async () => {
      const service = start({}, ['--import', `data:text/javascript,${encodeURIComponent(endsThreadsAtSignal)}`]);
      await addressOf(service);
      service.child.kill('SIGUSR2');
      expect(await service.exited).toBe(1);
      expect(service.printed.stdout).toMatch(/"level":"fatal".*"the embedded database ended by itself"/);
    },
    patience,
  );
});

/** Run before the service, in its process: as if a thread had died, which nothing outside of a process can make it do. */
const endsThreadsAtSignal = `
  import { syncBuiltinESMExports } from 'node:module';
  import threads from 'node:worker_threads';
  const Worker = threads.Worker;
  threads.Worker = class extends Worker {
    constructor(...given) {
      super(...given);
      process.on('SIGUSR2', () => this.terminate());
    }
  };
  syncBuiltinESMExports();
`;
