import { randomUUID } from 'node:crypto';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { AppModule } from '../../src/app.module.js';
import { readConfiguration } from '../../src/config/configuration.js';
import { createApplication } from '../../src/http/application.js';
import { LocalOperator } from '../../src/http/local-operator.js';
import { openInfrastructure } from '../../src/infrastructure.js';
import { RecallProcedures } from '../../src/procedures/recall-procedures.handler.js';
import { RecordExecution } from '../../src/procedures/record-execution.handler.js';
import { against, milliseconds, percentile, type BenchOptions, type BenchResult } from './bench.js';
import { benchSettings, newBenchTeam, questionOf, rememberProcedures, type BenchTeam } from './bench-service.js';
import { KeepAliveClient } from './keep-alive-client.js';

const procedures = 200;
const warmUp = 30;

interface Ways {
  readonly http: () => Promise<unknown>;
  readonly handler: () => Promise<unknown>;
}

/** What a request costs over HTTP against the same command or query at its handler: one at a time, taking turns. */
export async function httpBench(databaseUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const infrastructure = await openInfrastructure(
    readConfiguration({ ...benchSettings(databaseUrl), MNEME_LOG_LEVEL: 'silent' }),
  );
  const app = await createApplication(AppModule.on(infrastructure));
  try {
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const team = await newBenchTeam(url, app.get(LocalOperator).key);
    const client = new KeepAliveClient(url, team.key, 1);
    const { ids } = await rememberProcedures(client, procedures);
    const ways = waysOf(client, { commands: app.get(CommandBus), queries: app.get(QueryBus) }, team, ids);
    const rounds = quick ? 50 : 500;
    const results = [
      ...(await overhead('record a run', ways.record, rounds)),
      ...(await overhead('recall', ways.recall, rounds)),
    ];
    client.close();
    return results;
  } finally {
    await app.close();
    await infrastructure.stop();
  }
}

function waysOf(
  client: KeepAliveClient,
  { commands, queries }: { commands: CommandBus; queries: QueryBus },
  { team, profile }: BenchTeam,
  ids: readonly string[],
): Record<'record' | 'recall', Ways> {
  const { signal } = new AbortController();
  let turn = 0;
  const next = () => ids[turn++ % ids.length] ?? '';
  const run = { success: true, answer: undefined, occurredAt: undefined };
  const recall = () => ({ question: questionOf(turn++), scope: 'default', top: 10, intent: undefined });
  return {
    record: {
      http: () => expecting(201, client.post(`/v1/procedures/${next()}/executions`, { success: true })),
      handler: () => {
        const commandId = randomUUID();
        const context = { commandId, correlationId: commandId, team, profile };
        return commands.execute(new RecordExecution(context, next(), run, undefined, signal));
      },
    },
    recall: {
      http: () => expecting(200, client.post('/v1/procedures/recall', recall())),
      handler: () => queries.execute(new RecallProcedures(team, { ...recall(), minSimilarity: undefined }, signal)),
    },
  };
}

async function expecting(status: number, reply: ReturnType<KeepAliveClient['post']>): Promise<void> {
  const { status: got, body } = await reply;
  if (got !== status) throw new Error(`expected ${status}, got ${got}: ${JSON.stringify(body)}`);
}

async function overhead(name: string, { http, handler }: Ways, rounds: number): Promise<BenchResult[]> {
  const [over, direct]: [number[], number[]] = [[], []];
  for (let round = -warmUp; round < rounds; round++) {
    const [one, other] = [await milliseconds(http), await milliseconds(handler)];
    if (round < 0) continue;
    over.push(one);
    direct.push(other);
  }
  return [0.5, 0.99].map((share) =>
    against({ name: `${name} over HTTP, p${share * 100}`, unit: 'ms' }, percentile(over, share), percentile(direct, share)),
  );
}
