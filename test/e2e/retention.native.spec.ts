import { setTimeout as sleep } from 'node:timers/promises';
import { readConfiguration } from '../../src/config/configuration.js';
import { openInfrastructure } from '../../src/infrastructure.js';
import { freshDatabase, testDatabaseUrl } from '../support/database.js';
import { Client } from '../support/http.js';
import { until } from '../support/reactor-stage.js';
import type { Remembered } from '../support/remember.js';
import { idlePrunings, runsAndPrunings } from '../support/retention.js';
import { startServiceProcess } from '../support/service-process.js';
import { newTeamKey } from '../crash/writes.js';

const longAgo = (hours: number) => new Date(Date.now() - 100 * 86_400_000 - hours * 3_600_000).toISOString();

describe('two services on one database, of which the one that reacts is killed', () => {
  it('prune every run that is older than the retention, and none twice', async () => {
    await (await freshDatabase()).close();
    const settings = {
      DATABASE_URL: testDatabaseUrl().url,
      MNEME_MASTER_KEY: Buffer.alloc(32, 3).toString('base64'),
      MNEME_EMBEDDING_PROVIDER: 'shared_words',
      MNEME_PROJECTION_LEASE_MS: '1000',
      MNEME_LOG_LEVEL: 'info',
    };
    const key = await newTeamKey(settings);
    let services = [await startServiceProcess(settings), await startServiceProcess(settings)];
    const client = () => new Client(services[1]?.url ?? '', key);
    const { items } = (await client().get<{ items: { team_id: string }[] }>('/v1/teams')).body;
    await client().patch(`/v1/teams/${items[0]?.team_id}/settings`, { execution_retention_days: 30 });
    const runs: string[] = [];
    const record = async () => {
      const { body, status } = await client().post<Remembered>('/v1/procedures', {
        question: 'How do I refund an order?',
        version: `${runs.length % 7}`,
        graph: {},
        run: { success: true, occurred_at: longAgo(runs.length) },
      });
      if (status === 200 || status === 201) runs.push(body.execution_id);
    };
    for (let kill = 0; kill < 3; kill += 1) {
      const died = sleep(300 + Math.random() * 900).then(() => services[0]?.kill());
      for (let run = 0; run < 25; run += 1) await record();
      await died;
      const [, survivor] = services;
      // The survivor takes over; the next one to be killed.
      services = [...(survivor ? [survivor] : []), await startServiceProcess(settings)];
    }
    const pruned = async (run: string) => (await client().get(`/v1/executions/${run}`)).status === 410;
    for (const run of runs) await until(() => pruned(run), 30_000);
    for (const service of services) await service.stop();

    const infrastructure = await openInfrastructure(readConfiguration({ ...settings, MNEME_LOG_LEVEL: 'silent' }));
    try {
      const all = await runsAndPrunings(infrastructure);
      expect(all.runs.length).toBeGreaterThanOrEqual(75);
      expect(idlePrunings(all)).toEqual([]);
      expect(new Set(all.prunings.map(({ metadata }) => metadata.causationId)).size).toBe(all.prunings.length);
    } finally {
      await infrastructure.stop();
    }
  }, 240_000);
});
