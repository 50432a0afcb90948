import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { readConfiguration } from '../../src/config/configuration.js';
import { startService } from '../../src/service.js';
import { startServiceProcess, type ServiceProcess } from '../support/service-process.js';
import type { BenchOptions, BenchResult } from './bench.js';
import { benchSettings, newBenchTeam, questionOf, rememberProcedures } from './bench-service.js';
import { JudgedLog } from './judged-log.js';
import { KeepAliveClient } from './keep-alive-client.js';

const run = promisify(execFile);
const workers = 8;

/** Memory that the service process holds: after its start, after it replayed a log, and after a load. With the bundled model. */
export async function memoryBench(databaseUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const settings = { ...benchSettings(databaseUrl), MNEME_EMBEDDING_PROVIDER: 'bundled' };
  const key = await teamKey(settings);
  const fresh = await startServiceProcess(settings);
  await sleep(1000);
  const started = await residentMegabytes(fresh);
  await fresh.stop();

  const events = quick ? 20_000 : 200_000;
  const log = await JudgedLog.open(databaseUrl, { events, procedures: 1000 });
  const dropped = await forgetReadModels(log);
  const service = await startServiceProcess(settings);
  try {
    const client = new KeepAliveClient(service.url, key, workers);
    await levelWith(client);
    const replayed = await residentMegabytes(service);
    await load(client, quick ? 3_000 : 20_000);
    const loaded = await residentMegabytes(service);
    client.close();
    return [
      { name: 'resident memory after start', unit: 'MB', value: started },
      { name: `resident memory after a replay of ${events} events`, unit: 'MB', value: replayed, note: `${dropped} read models` },
      { name: 'resident memory after a load', unit: 'MB', value: loaded },
    ];
  } finally {
    await service.stop();
    await log.close();
  }
}

async function teamKey(settings: Readonly<Record<string, string>>): Promise<string> {
  const service = await startService(readConfiguration({ ...settings, MNEME_LOG_LEVEL: 'silent' }));
  try {
    return (await newBenchTeam(service.url, service.localOperatorKey)).key;
  } finally {
    await service.stop();
  }
}

/** So that the next start makes them all anew. @returns how many there were */
async function forgetReadModels({ database }: JudgedLog): Promise<number> {
  const builds = await database.query<{ schema: string }>(
    `DELETE FROM mneme.projection_builds WHERE state <> 'retired' RETURNING schema_name AS schema`,
  );
  for (const { schema } of builds) await database.query(`DROP SCHEMA "${schema}" CASCADE`);
  await database.query('DELETE FROM mneme.projection_group');
  return builds.length;
}

/** A read that waits for the last write. */
async function levelWith(client: KeepAliveClient): Promise<void> {
  for (;;) {
    const { position } = await rememberProcedures(client, 1).catch(() => ({ position: '' }));
    const recalled = await client.post('/v1/procedures/recall', { question: questionOf(0), min_position: position });
    if (position !== '' && recalled.status === 200) return;
    await sleep(200);
  }
}

async function load(client: KeepAliveClient, ms: number): Promise<void> {
  const { ids } = await rememberProcedures(client, 50);
  const until = performance.now() + ms;
  const work = async (worker: number) => {
    for (let turn = worker; performance.now() < until; turn += workers) {
      await client.post(`/v1/procedures/${ids[turn % ids.length]}/executions`, { success: turn % 3 > 0 });
      await client.post('/v1/procedures/recall', { question: questionOf(turn) });
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
}

async function residentMegabytes({ pid }: ServiceProcess): Promise<number> {
  const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Number(stdout) / 1024;
}
