import { setTimeout as sleep } from 'node:timers/promises';
import { teamScopes } from '../../src/access/scopes.js';
import { readConfiguration } from '../../src/config/configuration.js';
import { openInfrastructure } from '../../src/infrastructure.js';
import { startService } from '../../src/service.js';
import { Client } from '../support/http.js';
import { readModelRows, rebuildAll } from '../support/read-model-rows.js';
import type { Remembered } from '../support/remember.js';

const versions = 5;

/** One write that was sent, and what it was answered with, once it was. */
export interface Sent {
  readonly key: string;
  readonly path: string;
  readonly body: object;
  receipt?: { readonly status: number; readonly body: Remembered; readonly position: string };
}

export async function newTeamKey(settings: Readonly<Record<string, string>>): Promise<string> {
  const service = await startService(readConfiguration({ ...settings, MNEME_PORT: '0', MNEME_LOG_LEVEL: 'silent' }));
  const operator = new Client(service.url, service.localOperatorKey);
  const team_id = (await operator.post<{ team_id: string }>('/v1/teams', { name: 'Crash' })).body.team_id;
  const { profile_id } = (await operator.post<{ profile_id: string }>('/v1/profiles', { team_id, name: 'Writer' })).body;
  const { key } = (await operator.post<{ key: string }>('/v1/keys', { team_id, profile_id, scopes: teamScopes })).body;
  await service.stop();
  return key;
}

export function newWrite(sent: Sent[]): Sent {
  const number = sent.length;
  const remembered = sent.find(({ path, receipt }) => path === '/v1/procedures' && receipt);
  const runs = remembered?.receipt && number % 3 !== 0;
  const write: Sent = runs
    ? {
        key: `run-${number}`,
        path: `/v1/procedures/${remembered.receipt?.body.procedure_id}/executions`,
        body: { success: number % 2 === 0 },
      }
    : {
        key: `remember-${number}`,
        path: '/v1/procedures',
        body: { question: 'q', version: `${number % versions}`, graph: {}, run: { success: true } },
      };
  sent.push(write);
  return write;
}

export async function send(client: Client, write: Sent): Promise<void> {
  const { status, body, position } = await client.post<Remembered>(write.path, write.body, {
    headers: { 'idempotency-key': write.key },
  });
  if (status === 200 || status === 201) write.receipt = { status, body, position };
}

/** What a careful client does after a crash: it repeats what it got no answer to. */
export async function settleAll(client: Client, sent: readonly Sent[]): Promise<void> {
  for (const write of sent.filter(({ receipt }) => !receipt)) {
    for (let tries = 0; !write.receipt && tries < 20; tries += 1) await send(client, write);
    expect({ key: write.key, settled: write.receipt !== undefined }).toEqual({ key: write.key, settled: true });
  }
}

export async function expectNothingLostOrDoubled(client: Client, sent: Sent[]): Promise<void> {
  // The last of all writes: a read that has seen it has seen every other.
  await send(client, newWrite(sent));
  const receipts = sent.flatMap(({ receipt }) => receipt ?? []);
  expect(receipts).toHaveLength(sent.length);
  expect(new Set(receipts.map(({ body }) => body.execution_id)).size).toBe(sent.length);
  const runs = new Map<string, number>();
  for (const { body } of receipts) runs.set(body.procedure_id, (runs.get(body.procedure_id) ?? 0) + 1);
  const last = receipts.at(-1)?.position ?? '';
  for (const [procedure, count] of runs) {
    const { body } = await client.get<{ counters: { runs: number } }>(`/v1/procedures/${procedure}?min_position=${last}`);
    expect({ procedure, runs: body.counters.runs }).toEqual({ procedure, runs: count });
  }
  // Acknowledged once, answered the same for ever.
  for (const write of sent.slice(-50)) {
    const again = await client.post(write.path, write.body, { headers: { 'idempotency-key': write.key } });
    expect({ status: again.status, body: again.body }).toEqual({ status: write.receipt?.status, body: write.receipt?.body });
  }
}

export async function expectRowsEqualRebuild(settings: Readonly<Record<string, string>>): Promise<void> {
  const infrastructure = await openInfrastructure(readConfiguration({ ...settings, MNEME_LOG_LEVEL: 'silent' }));
  try {
    const head = await infrastructure.log.head();
    await infrastructure.engine.waitFor(head, 30_000, ['procedures', 'judged_counters', 'event_refs', 'access']);
    await vectorsSettled(infrastructure);
    const live = await readModelRows(infrastructure);
    await rebuildAll(infrastructure);
    expect(await readModelRows(infrastructure)).toEqual(live);
  } finally {
    await infrastructure.stop();
  }
}

/** A crash may cost a cached vector, which the embedding worker then makes again. */
async function vectorsSettled({ embeddingWorker }: Awaited<ReturnType<typeof openInfrastructure>>): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    embeddingWorker.wake();
    if ((await embeddingWorker.status()).pending === 0) return;
    await sleep(20);
  }
}
