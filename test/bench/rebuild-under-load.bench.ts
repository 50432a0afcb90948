import { setTimeout as sleep } from 'node:timers/promises';
import { readConfiguration } from '../../src/config/configuration.js';
import { startService } from '../../src/service.js';
import { startServiceProcess } from '../support/service-process.js';
import { against, percentile, type BenchOptions, type BenchResult } from './bench.js';
import { benchSettings, newBenchTeam, questionOf, rememberProcedures } from './bench-service.js';
import { JudgedLog } from './judged-log.js';
import { KeepAliveClient } from './keep-alive-client.js';

const connections = 8;
const procedures = 200;
const rebuilt = 'judged_counters';

/** The slowest percent may take at most twice as long while a rebuild runs. */
const ceiling = 2;
/** Of a rollback, milliseconds. */
const rollbackMs = 1000;

/** What requests of a load were answered, and how fast. */
interface Answers {
  /** Milliseconds, from the moment at which the request was due. */
  readonly latencies: number[];
  /** What was wrong with an answer. */
  readonly wrong: string[];
}

/**
 * Half of what the service can take, of writes and recalls in equal parts, without and with a rebuild running: the answers must
 * stay right, and nearly as fast.
 */
export async function rebuildUnderLoadBench(databaseUrl: string, { quick }: BenchOptions): Promise<BenchResult[]> {
  const settings = benchSettings(databaseUrl);
  const keys = await makeKeys(settings);
  const log = await JudgedLog.open(databaseUrl, { events: quick ? 20_000 : 200_000, procedures: 1000 });
  const service = await startServiceProcess(settings);
  const client = new KeepAliveClient(service.url, keys.team, connections);
  const operator = new KeepAliveClient(service.url, keys.operator, 2);
  try {
    const { ids, position } = await rememberProcedures(client, procedures);
    await untilLevel(client, position);
    const load = new Load(client, ids);
    const seconds = quick ? 5 : 30;
    await load.atMost(2);
    const most = await load.atMost(quick ? 3 : 10);
    const rebuilds = new Rebuilds(operator);
    const alone = await load.at(most / 2, seconds);
    rebuilds.start();
    const beside = await load.at(most / 2, seconds);
    await rebuilds.end();
    const rollback = await rolledBack(operator);
    await load.check();
    return results({ most, alone, beside, rebuilds: rebuilds.count, rollback });
  } finally {
    client.close();
    operator.close();
    await service.stop();
    await log.close();
  }
}

async function makeKeys(settings: Readonly<Record<string, string>>): Promise<{ team: string; operator: string }> {
  const service = await startService(readConfiguration({ ...settings, MNEME_LOG_LEVEL: 'silent' }));
  const own = new KeepAliveClient(service.url, service.localOperatorKey, 1);
  try {
    const { key: team } = await newBenchTeam(service.url, service.localOperatorKey);
    const { body } = await own.post('/v1/keys', { scopes: ['projections:manage'], name: 'bench' });
    return { team, operator: (body as { key: string }).key };
  } finally {
    own.close();
    await service.stop();
  }
}

async function untilLevel(client: KeepAliveClient, min_position: string): Promise<void> {
  while ((await client.post('/v1/procedures/recall', { question: questionOf(0), min_position })).status !== 200) await sleep(200);
}

/** Records a run of a procedure and recalls another, in turn. */
class Load {
  private readonly runs = new Map<string, number>();
  private turn = 0;
  private lastPosition = '';

  constructor(
    private readonly client: KeepAliveClient,
    private readonly ids: readonly string[],
  ) {
    for (const id of ids) this.runs.set(id, 1);
  }

  /** As fast as the connections allow. @returns requests a second */
  async atMost(seconds: number): Promise<number> {
    const until = performance.now() + seconds * 1000;
    let requests = 0;
    const work = async () => {
      for (; performance.now() < until; requests++) await this.request();
    };
    await Promise.all(Array.from({ length: connections }, work));
    return requests / seconds;
  }

  /** Requests that come whether or not those before were answered: a service that falls behind is not spared. */
  async at(rate: number, seconds: number): Promise<Answers> {
    const answers: Answers = { latencies: [], wrong: [] };
    const started = performance.now();
    const sent: Promise<void>[] = [];
    for (let count = 0; count < rate * seconds; count++) {
      const due = started + (count * 1000) / rate;
      if (due > performance.now() + 1) await sleep(due - performance.now());
      sent.push(
        this.request().then(
          (wrong) => {
            answers.latencies.push(performance.now() - due);
            if (wrong !== undefined) answers.wrong.push(wrong);
          },
          (error: unknown) => void answers.wrong.push(String(error)),
        ),
      );
    }
    await Promise.all(sent);
    return answers;
  }

  /** After all: every run that was acknowledged is counted. */
  async check(): Promise<void> {
    for (const [number, id] of this.ids.entries()) {
      const found = await this.recalled(number, this.lastPosition);
      if (found.id !== id || found.runs !== this.runs.get(id))
        throw new Error(`${id} ran ${this.runs.get(id)} times, but a recall counts ${found.runs} of ${found.id}`);
    }
  }

  /** @returns what was wrong with the answer */
  private async request(): Promise<string | undefined> {
    const turn = this.turn++;
    return turn % 2 === 0 ? this.record(turn / 2) : this.recall((turn - 1) / 2);
  }

  private async record(turn: number): Promise<string | undefined> {
    const id = this.ids[turn % this.ids.length] ?? '';
    const { status, position } = await this.client.post(`/v1/procedures/${id}/executions`, { success: true });
    if (status !== 201) return `a write was answered ${status}`;
    this.runs.set(id, (this.runs.get(id) ?? 0) + 1);
    this.lastPosition = position;
    return undefined;
  }

  /** What was known before the last recall of the same procedure is still known. */
  private readonly seen = new Map<string, number>();
  private async recall(turn: number): Promise<string | undefined> {
    const number = turn % this.ids.length;
    const id = this.ids[number] ?? '';
    const atLeast = this.seen.get(id) ?? 1;
    const found = await this.recalled(number);
    if (found.status !== 200) return `a recall was answered ${found.status}`;
    if (found.id !== id) return `a recall found ${found.id} instead of ${id}`;
    if (found.runs < atLeast) return `a recall counted ${found.runs} runs, after one that counted ${atLeast}`;
    this.seen.set(id, Math.max(found.runs, this.seen.get(id) ?? 1));
    return undefined;
  }

  private async recalled(number: number, min_position?: string): Promise<{ status: number; id: string; runs: number }> {
    const { status, body } = await this.client.post('/v1/procedures/recall', {
      question: questionOf(number),
      min_similarity: 0.99,
      ...(min_position !== undefined && { min_position }),
    });
    const [match] = (body as { matches?: Match[] }).matches ?? [];
    return { status, id: match?.procedure.procedure_id ?? '', runs: match?.evidence.runs ?? 0 };
  }
}

interface Match {
  readonly procedure: { readonly procedure_id: string };
  readonly evidence: { readonly runs: number };
}

/** One rebuild after the other, until told to end. */
class Rebuilds {
  count = 0;
  private ending = false;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly operator: KeepAliveClient) {}

  start(): void {
    this.running = this.run();
  }

  /** After the rebuild at hand. */
  async end(): Promise<void> {
    this.ending = true;
    await this.running;
  }

  private async run(): Promise<void> {
    while (!this.ending) {
      const { status, body } = await this.operator.post(`/v1/projections/${rebuilt}/rebuild`);
      if (status !== 202) throw new Error(`a rebuild was answered ${status}: ${JSON.stringify(body)}`);
      const { build } = body as { build: number };
      while (!(await this.serves(build))) await sleep(100);
      this.count++;
    }
  }

  private async serves(build: number): Promise<boolean> {
    const { body } = await this.operator.get('/v1/projections');
    const own = (body as { items: Standing[] }).items.find(({ name }) => name === rebuilt);
    if (own?.rebuild_error) throw new Error(`the rebuild failed: ${own.rebuild_error}`);
    return own?.build === build;
  }
}

interface Standing {
  readonly name: string;
  readonly build: number;
  readonly rebuild_error: string | null;
}

async function rolledBack(operator: KeepAliveClient): Promise<number> {
  const started = performance.now();
  const { status, body } = await operator.post(`/v1/projections/${rebuilt}/rollback`);
  if (status !== 200) throw new Error(`a rollback was answered ${status}: ${JSON.stringify(body)}`);
  return performance.now() - started;
}

interface Measured {
  readonly most: number;
  readonly alone: Answers;
  readonly beside: Answers;
  readonly rebuilds: number;
  readonly rollback: number;
}

function results({ most, alone, beside, rebuilds, rollback }: Measured): BenchResult[] {
  const wrong = [...alone.wrong, ...beside.wrong];
  if (wrong.length > 0) throw new Error(`${wrong.length} answers were wrong: ${[...new Set(wrong)].slice(0, 5).join('; ')}`);
  const latency = (share: number, bars: { ceiling?: number }) =>
    against(
      { name: `half of that load while a rebuild runs, p${share * 100}`, unit: 'ms', ...bars },
      percentile(beside.latencies, share),
      percentile(alone.latencies, share),
    );
  return [
    { name: 'writes and recalls in equal parts, at most', unit: 'requests/s', value: most },
    { ...latency(0.99, { ceiling }), note: `${beside.latencies.length} answers, none wrong, during ${rebuilds} rebuilds` },
    latency(0.5, {}),
    { name: 'rollback after it', unit: 'ms', value: rollback, most: rollbackMs },
  ];
}
