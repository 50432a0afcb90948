import { setTimeout as sleep } from 'node:timers/promises';
import { freshDatabase, testDatabaseUrl } from '../support/database.js';
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

/** 20 owners killed in `npm run test:crash`; a few in an ordinary run. */
const failovers = kills >= 50 ? 20 : 3;
const leaseMs = 2_000;
/** From the owner's death until the other one has applied everything that was acknowledged, milliseconds. */
const longestMs = leaseMs + 5_000;
const writers = 4;

describe('two services on one database', () => {
  it(`survive ${failovers} deaths of the one that projects: nothing is lost or doubled, and the other one catches up in time`, async () => {
    await (await freshDatabase()).close();
    const settings = {
      DATABASE_URL: testDatabaseUrl().url,
      MNEME_MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
      MNEME_EMBEDDING_PROVIDER: 'shared_words',
      MNEME_PROJECTION_LEASE_MS: String(leaseMs),
    };
    const key = await newTeamKey(settings);
    const sent: Sent[] = [];
    const took: number[] = [];
    let owner = await startServiceProcess(settings);
    for (let failover = 0; failover < failovers; failover += 1) {
      const other = await startServiceProcess(settings);
      took.push(await killUnderWrites(owner, other, key, sent));
      await settleAll(new Client(other.url, key), sent);
      owner = other;
    }
    console.log(`caught up after ${took.map((ms) => Math.round(ms)).join(', ')} ms`);
    expect(Math.max(...took)).toBeLessThan(longestMs);
    await expectNothingLostOrDoubled(new Client(owner.url, key), sent);
    expect(await owner.stop()).toBe(0);
    await expectRowsEqualRebuild(settings);
  }, 1_800_000);
});

/**
 * Kills the owner while both are written to; who speaks to it goes on with the other.
 *
 * @returns milliseconds from its death until the other one's read models have all that was acknowledged by then
 */
async function killUnderWrites(owner: ServiceProcess, other: ServiceProcess, key: string, sent: Sent[]): Promise<number> {
  let writing = true;
  const write = async (service: ServiceProcess) => {
    const client = new Client(service.url, key);
    while (isTrue(writing)) {
      const answered = await send(client, newWrite(sent)).then(
        () => true,
        () => false,
      );
      if (!answered) await sleep(10);
    }
  };
  const all = Array.from({ length: writers }, (_, index) => write(index % 2 === 0 ? owner : other));
  await sleep(20 + Math.random() * 480);
  await owner.kill();
  const died = performance.now();
  await caughtUp(new Client(other.url, key), sent);
  const took = performance.now() - died;
  writing = false;
  await Promise.all(all);
  return took;
}

/** A write that comes after the death shows up in a read only when somebody projects again, and so does all before it. */
async function caughtUp(client: Client, sent: Sent[]): Promise<void> {
  const last = newWrite(sent);
  while (!last.receipt) await send(client, last);
  const { body, position } = last.receipt;
  for (let tries = 0; tries < 100; tries += 1) {
    const { status } = await client.get(`/v1/procedures/${body.procedure_id}?min_position=${position}`);
    if (status === 200) return;
  }
  throw new Error('nobody projects any more');
}

/** Read anew each time: the compiler does not see that a callback changes it. */
const isTrue = (value: boolean): boolean => value;
