import { readFileSync } from 'node:fs';
import { canariesIn } from './canaries.js';
import { faultsOf } from './checks.js';
import { mainJob } from './main-job.js';
import { type FuzzRequest, fuzzRequest } from './requests.js';
import { overTheWire, type WireAnswer } from './wire.js';
import { startWorld, type World } from './world.js';

const seed = Number(process.env.MNEME_TEST_FUZZ_SEED ?? 1);
const requests = Number(process.env.MNEME_TEST_FUZZ_REQUESTS ?? 1_000);
/** One request alone, by its number, as a failure names it. */
const only = process.env.MNEME_TEST_FUZZ_ONLY;
const senders = 8;
const longestRunMs = 240_000 + requests * 30;

interface Sent {
  readonly request: FuzzRequest;
  readonly answers: readonly WireAnswer[];
}

/** Resident memory of a process, megabytes. */
const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;

/** Runs the requests, a few at a time. @returns what was sent, what was wrong, and the memory at each tenth */
async function run(world: World): Promise<{ sent: Sent[]; faults: string[]; memory: number[] }> {
  const sent: Sent[] = [];
  const faults: string[] = [];
  const memory: number[] = [];
  const indexes = (only === undefined ? Array.from({ length: requests }, (_, index) => index) : [Number(only)]).values();
  const sendNext = async (): Promise<void> => {
    for (const index of indexes) {
      if (faults.length > 20) return;
      const request = fuzzRequest(world, seed, index);
      const found: string[] = [];
      try {
        const answers = await overTheWire(world.port, request.sending);
        sent.push({ request, answers });
        found.push(...answers.flatMap((answer) => faultsOf(request, answer)));
      } catch (error) {
        found.push(String(error));
      }
      faults.push(...found.map((fault) => `#${index} (${request.key}) ${request.what}: ${fault}`));
      if (index % Math.ceil(requests / 10) === 0) memory.push(memoryOf(world.process.child.pid ?? 0));
    }
  };
  await Promise.all(Array.from({ length: senders }, sendNext));
  return { sent, faults, memory };
}

describe(`the service under ${requests} hostile requests of seed ${seed}`, () => {
  let world: World;
  let outcome: Awaited<ReturnType<typeof run>>;
  beforeAll(async () => {
    world = await startWorld();
    outcome = await run(world);
  }, longestRunMs);
  afterAll(() => world.stop(), 60_000);

  it('answers each as it should: no fault of its own, no word of theirs, and every refusal a problem that is documented', () =>
    expect(outcome.faults).toEqual([]));

  it('still runs', () => expect([world.process.child.exitCode, world.process.child.signalCode]).toEqual([null, null]));

  it(
    'does its work right afterwards',
    async () =>
      expect(await mainJob(world.operator)).toEqual({
        statuses: [201, 201, 201, 200, 200, 200, 404],
        recalled: [true],
        traced: ['ExecutionFeedbackRecorded', 'ExecutionRecorded', 'ExecutionRecorded', 'ProcedureRemembered'],
      }),
    60_000,
  );

  it('has no word of them in its log or its metrics, and no error', async () => {
    const { stdout, stderr } = world.process.printed;
    const metrics = await (await fetch(`${world.operator.url}/metrics`)).text();
    expect([...canariesIn(`${stdout}${stderr}${metrics}`)]).toEqual([]);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { level: string; msg: string });
    expect(lines.length).toBeGreaterThan(only === undefined ? requests / 2 : 0);
    expect(lines.filter(({ level }) => level !== 'info' && level !== 'debug')).toEqual([]);
    expect(stderr).toBe('');
  });

  it('takes no more memory for more requests', () => {
    const { memory } = outcome;
    // After a third everything that grows once has grown: code, caches, pools, the database's own memory.
    const settled = Math.max(...memory.slice(0, Math.ceil(memory.length / 3)));
    expect(Math.max(...memory) - settled).toBeLessThan(150);
  });

  it('was reached by the requests: each operation was asked for, and a good part of the answers are successes', () => {
    if (only !== undefined) return;
    const asked = new Set(outcome.sent.flatMap(({ request }) => request.operation?.id ?? []));
    expect([...asked].sort()).toEqual(world.api.operations.map(({ id }) => id).sort());
    const statuses = outcome.sent.flatMap(({ answers }) => answers.map(({ status }) => status));
    expect(statuses.filter((status) => status < 300).length).toBeGreaterThan(statuses.length * 0.1);
  });
});
