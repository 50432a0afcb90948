import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '../support/http.js';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.js';
import {
  expectNothingLostOrDoubled,
  expectRowsEqualRebuild,
  newTeamKey,
  newWrite,
  send,
  type Sent,
  settleAll,
} from './writes.js';

const writers = 4;

/**
 * Kills the service with -9 at random moments while four writers write, starts it again each time, and then holds what it
 * knows against what it acknowledged.
 *
 * @param settings of the service; two starts with them find the same data
 */
export async function surviveKills(settings: Readonly<Record<string, string>>, kills: number): Promise<void> {
  const key = await newTeamKey(settings);
  const sent: Sent[] = [];
  let service = await startServiceProcess(settings);
  for (let kill = 0; kill < kills; kill += 1) {
    const moment = 20 + Math.random() * 480;
    await writeUntilKilled(service, key, sent, moment);
    service = await startServiceProcess(settings);
    await settleAll(new Client(service.url, key), sent);
  }
  await expectNothingLostOrDoubled(new Client(service.url, key), sent);
  expect(await service.stop()).toBe(0);
  await expectRowsEqualRebuild(settings);
}

async function writeUntilKilled(service: ServiceProcess, key: string, sent: Sent[], moment: number): Promise<void> {
  const client = new Client(service.url, key);
  const killed = sleep(moment).then(() => service.kill());
  let alive = true;
  void killed.then(() => (alive = false));
  const write = async () => {
    while (isTrue(alive)) await send(client, newWrite(sent)).catch(() => undefined);
  };
  await Promise.all([killed, ...Array.from({ length: writers }, write)]);
}

/** Read anew each time: the compiler does not see that a callback changes it. */
const isTrue = (value: boolean): boolean => value;
