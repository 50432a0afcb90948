import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEventStoreDb, type TestEventStoreDb } from '../support/eventstoredb/eventstoredb.js';
import { Client } from '../support/http.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import { kills } from './kills.js';
import {
  expectNothingLostOrDoubled,
  expectRowsEqualRebuild,
  newTeamKey,
  newWrite,
  send,
  type Sent,
  settleAll,
} from './writes.js';

/** 20 outages of 30 s in `npm run test:crash`; a few short ones in an ordinary run. */
const thorough = kills >= 50;
const outages = thorough ? 20 : 3;
const outageMs = thorough ? 30_000 : 1_500;

/** An append of unknown outcome is sent again three times, each with a deadline of 10 s, and pauses of 2 s in all. */
const requestDeadlineMs = 45_000;
const writers = 3;
/** Resident memory may grow by so much from the second outage to the last, bytes: a process that has done nothing yet is no measure. */
const mostGrowth = 150 * 1024 * 1024;
const warmUp = 2;

describe('when the event log goes away and comes back', () => {
  let folder: string;
  let server: TestEventStoreDb;
  let settings: Record<string, string>;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mneme-outage-'));
    server = await startEventStoreDb();
    settings = { MNEME_DATA: folder, MNEME_EMBEDDING_PROVIDER: 'shared_words', EVENTSTORE_URL: server.connectionString };
  });
  afterAll(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it(`${outages} times, no request hangs, nothing is lost or doubled, and projections go on without a restart`, async () => {
    const key = await newTeamKey(settings);
    const service = await startServiceProcess(settings);
    const client = new Client(service.url, key);
    const sent: Sent[] = [];
    const durations: number[] = [];
    await writeFor(300, client, sent, durations);
    const memory: number[] = [];
    for (let outage = 0; outage < outages; outage += 1) {
      const writing = writeFor(outageMs + 1_000, client, sent, durations);
      await sleep(Math.random() * 500);
      await server.pause();
      await sleep(outageMs);
      expect((await client.get('/health/ready')).status).toBe(503);
      await server.restart();
      await writing;
      await settleAll(client, sent);
      memory.push(await residentBytes(service));
    }
    await expectNothingLostOrDoubled(client, sent);
    expect((await client.get('/health/ready')).status).toBe(200);
    expect(Math.max(...durations)).toBeLessThan(requestDeadlineMs);
    const [first = 0, ...later] = memory.slice(warmUp - 1);
    expect(Math.max(...later) - first).toBeLessThan(mostGrowth);
    expect(await service.stop()).toBe(0);
    await expectRowsEqualRebuild(settings);
  }, 3_600_000);
});

async function writeFor(ms: number, client: Client, sent: Sent[], durations: number[]): Promise<void> {
  const end = performance.now() + ms;
  const write = async () => {
    while (performance.now() < end) {
      const started = performance.now();
      await send(client, newWrite(sent));
      durations.push(performance.now() - started);
      await sleep(20);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
}

async function residentBytes({ pid }: ServiceProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? Number.NaN) * 1024;
}
