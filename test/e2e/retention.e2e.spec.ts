import fc from 'fast-check';
import { readConfiguration } from '../../src/config/configuration.js';
import type { RunningService } from '../../src/service.js';
import { startService } from '../../src/service.js';
import { TestClock } from '../support/clock.js';
import { freshDatabase } from '../support/database.js';
import { eventLogSettings, stopEventLogOfThisRun } from '../support/event-log-of-this-run.js';
import { Client } from '../support/http.js';
import { ReactorDatabase, until } from '../support/reactor-stage.js';
import type { Remembered } from '../support/remember.js';
import { idlePrunings, reactorsSettled, runsAndPrunings } from '../support/retention.js';
import { newTeam, startTestService, type TestService, type TestTeam } from '../support/service.js';

const hour = 3_600_000;
const day = 24 * hour;
const start = new Date('2026-06-01T12:00:00Z').getTime();
const daysAgo = (days: number) => new Date(start - days * day).toISOString();

const version = { question: 'How do I refund an order?', graph: { steps: ['refund'] } };

async function remember(client: Client, occurred_at: string, more: object = {}): Promise<Remembered> {
  const answer = await client.post<Remembered>('/v1/procedures', { ...version, ...more, run: { success: true, occurred_at } });
  if (answer.status !== 201 && answer.status !== 200) throw new Error(`not remembered: ${answer.status}`);
  return answer.body;
}

describe('the retention of runs', () => {
  let service: TestService;
  let team: TestTeam;
  beforeAll(async () => (service = await startTestService()));
  afterAll(() => service.stop());
  beforeEach(async () => {
    service.clock.set(new Date(start));
    team = await newTeam(service);
  });

  const settled = () => reactorsSettled(service.infrastructure);
  const retain = async (days: number | null) => {
    const answer = await team.client.patch(`/v1/teams/${team.id}/settings`, { execution_retention_days: days });
    expect(answer.status).toBe(200);
    await settled();
  };
  const waitDays = async (days: number) => {
    service.clock.set(new Date(start + days * day));
    await settled();
  };
  /** A procedure with a judged run so many days ago each. */
  const procedureWithRuns = async (...ages: number[]) => {
    const ids: string[] = [];
    let procedure = '';
    for (const age of ages) {
      const { procedure_id, execution_id } = await remember(team.client, daysAgo(age));
      procedure = procedure_id;
      ids.push(execution_id);
      expect((await judge(execution_id)).status).toBe(201);
    }
    return { procedure, runs: ids };
  };
  const judge = (execution: string) => team.client.post(`/v1/executions/${execution}/feedback`, { worked: true });
  const counters = async (procedure: string) => {
    const { body } = await team.client.get<{ counters: object }>(`/v1/procedures/${procedure}`);
    return body.counters;
  };
  const prunings = async (procedure: string) =>
    (await runsAndPrunings(service.infrastructure)).prunings.filter(({ data }) => data.procedure_id === procedure);
  const timers = () =>
    service.infrastructure.database.query('SELECT key, due_at FROM mneme.due_timers WHERE team_id = $1 ORDER BY key', [team.id]);

  it('takes the verdicts of runs that are older, and keeps that they happened', async () => {
    const { procedure, runs } = await procedureWithRuns(40, 31, 5);
    await retain(30);
    expect(await counters(procedure)).toMatchObject({ runs: 3, successes: 3, judged_runs: 1, judged_successes: 1 });
    const [first = '', second = '', third = ''] = runs;
    for (const old of [first, second]) {
      expect(await judge(old)).toMatchObject({ status: 410, body: { code: 'execution_pruned' } });
    }
    expect((await judge(third)).status).toBe(201);
    const events = await prunings(procedure);
    expect(events.map(({ data: { before } }) => before)).toEqual([daysAgo(30)]);
    expect(events[0]?.metadata).toMatchObject({ causationDepth: 1, profile: undefined, apiKey: undefined });
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('mneme_reactor_commands_total{reactor="execution_retention",outcome="appended"} 1');
    const { body } = await team.client.get<{ events: { type: string; author: unknown }[] }>(`/v1/procedures/${procedure}/trace`);
    expect(JSON.stringify(body)).toContain('ExecutionsPruned');
  });

  it('takes each verdict when its time has come, and not before', async () => {
    const { procedure } = await procedureWithRuns(29, 20);
    await retain(30);
    expect(await counters(procedure)).toMatchObject({ judged_runs: 2 });
    await waitDays(1);
    expect(await counters(procedure)).toMatchObject({ judged_runs: 2 });
    await waitDays(1 + 1 / 24);
    expect(await counters(procedure)).toMatchObject({ judged_runs: 1 });
    await waitDays(11);
    expect(await counters(procedure)).toMatchObject({ runs: 2, judged_runs: 0 });
    expect(await prunings(procedure)).toHaveLength(2);
    expect(await timers()).toEqual([]);
  });

  it('holds for runs that are recorded later, also for such as happened long ago', async () => {
    await retain(30);
    const { procedure, runs } = await procedureWithRuns(3);
    expect(await timers()).toHaveLength(1);
    const late = (await remember(team.client, daysAgo(100))).execution_id;
    await settled();
    expect(await judge(late)).toMatchObject({ status: 410 });
    expect((await judge(runs[0] ?? '')).status).toBe(201);
    expect(await counters(procedure)).toMatchObject({ runs: 2, judged_runs: 1 });
  });

  it('ends when it is switched off', async () => {
    const { procedure } = await procedureWithRuns(29);
    await retain(30);
    expect(await timers()).toHaveLength(1);
    await retain(null);
    expect(await timers()).toEqual([]);
    await waitDays(400);
    expect(await counters(procedure)).toMatchObject({ judged_runs: 1 });
    expect(await prunings(procedure)).toEqual([]);
  });

  it('goes by the setting as it is now, whether shorter or longer than before', async () => {
    const { procedure } = await procedureWithRuns(20);
    await retain(30);
    await retain(60);
    await waitDays(15);
    expect(await counters(procedure)).toMatchObject({ judged_runs: 1 });
    await retain(34);
    expect(await counters(procedure)).toMatchObject({ judged_runs: 0 });
  });

  it('writes nothing where a person has pruned already', async () => {
    const { procedure } = await procedureWithRuns(29);
    await retain(30);
    await team.client.post(`/v1/procedures/${procedure}/prune`, { before: daysAgo(0) });
    await waitDays(10);
    expect(await prunings(procedure)).toHaveLength(1);
    expect(await timers()).toEqual([]);
  });

  it('prunes all that expired with one event, however long nobody looked', async () => {
    const { procedure } = await procedureWithRuns(9, 8, 7, 6, 5);
    await retain(10);
    await waitDays(100);
    expect(await counters(procedure)).toMatchObject({ runs: 5, judged_runs: 0 });
    expect(await prunings(procedure)).toHaveLength(1);
  });

  it('leaves no timer behind for a procedure that is erased', async () => {
    const { procedure } = await procedureWithRuns(1);
    await retain(30);
    expect(await timers()).toHaveLength(1);
    expect((await team.client.delete(`/v1/procedures/${procedure}`)).status).toBe(200);
    expect(await timers()).toEqual([]);
    await settled();
    expect(await timers()).toEqual([]);
  });

  it('of one team is not another’s', async () => {
    const mine = await procedureWithRuns(40);
    await retain(30);
    team = await newTeam(service, 'Other');
    const theirs = await procedureWithRuns(40);
    await settled();
    expect(await counters(theirs.procedure)).toMatchObject({ judged_runs: 1 });
    expect(await prunings(theirs.procedure)).toEqual([]);
    expect(await prunings(mine.procedure)).toHaveLength(1);
  });

  describe('for any order of runs, settings, prunings and moments', () => {
    type Step =
      | { readonly do: 'run'; readonly procedure: number; readonly hoursAgo: number; readonly minutes: number }
      | { readonly do: 'retain'; readonly days: number | null }
      | { readonly do: 'jump'; readonly hours: number }
      | { readonly do: 'prune'; readonly procedure: number; readonly hoursAgo: number };

    const procedure = fc.integer({ min: 0, max: 1 });
    const hoursAgo = fc.integer({ min: -30, max: 120 });
    const step: fc.Arbitrary<Step> = fc.oneof(
      {
        weight: 6,
        arbitrary: fc.record({ do: fc.constant('run' as const), procedure, hoursAgo, minutes: fc.constantFrom(0, 0, 1, 59) }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('retain' as const), days: fc.constantFrom(null, 1, 2, 3) }) },
      { weight: 4, arbitrary: fc.record({ do: fc.constant('jump' as const), hours: fc.integer({ min: -24, max: 96 }) }) },
      { weight: 1, arbitrary: fc.record({ do: fc.constant('prune' as const), procedure, hoursAgo }) },
    );

    interface ModelRun {
      readonly procedure: number;
      readonly ranAt: number;
      pruned: boolean;
    }

    /** What is to be pruned by now: whoever ran in an hour that ended before the retention began. */
    function expire(runs: readonly ModelRun[], days: number | null, now: number): void {
      if (days === null) return;
      const fullHour = now - (now % hour);
      for (const run of runs) if (run.ranAt < fullHour - days * day) run.pruned = true;
    }

    it('exactly those runs have lost their verdicts that the rule says, and no event was idle', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 14 }), async (steps) => {
          service.clock.set(new Date(start));
          team = await newTeam(service);
          const runs: (ModelRun & { id: string; procedureId: string })[] = [];
          let [now, days] = [start, null as number | null];
          for (const next of steps) {
            if (next.do !== 'run') await settled();
            switch (next.do) {
              case 'run': {
                const ranAt = now - next.hoursAgo * hour + next.minutes * 60_000;
                const { execution_id: id, procedure_id: procedureId } = await remember(
                  team.client,
                  new Date(ranAt).toISOString(),
                  {
                    version: `${next.procedure}`,
                  },
                );
                runs.push({ procedure: next.procedure, ranAt, pruned: false, id, procedureId });
                break;
              }
              case 'retain':
                days = next.days;
                await retain(days);
                break;
              case 'jump':
                now += next.hours * hour;
                service.clock.set(new Date(now));
                await settled();
                break;
              case 'prune': {
                const before = now - next.hoursAgo * hour;
                const its = runs.filter((run) => run.procedure === next.procedure);
                if (!its[0]) break;
                await team.client.post(`/v1/procedures/${its[0].procedureId}/prune`, { before: new Date(before).toISOString() });
                for (const run of its) if (run.ranAt < before) run.pruned = true;
                break;
              }
              default:
                next satisfies never;
            }
            expire(runs, days, now);
          }
          await settled();
          const told = await Promise.all(runs.map(({ id }) => team.client.get(`/v1/executions/${id}`)));
          expect(told.map(({ status }) => status)).toEqual(runs.map(({ pruned }) => (pruned ? 410 : 200)));
          const { runs: all, prunings: events } = await runsAndPrunings(service.infrastructure);
          const ofReactor = events.filter(({ metadata }) => metadata.profile === undefined);
          const idle = new Set(idlePrunings({ runs: all, prunings: events }));
          expect(ofReactor.filter((event) => idle.has(event))).toEqual([]);
        }),
        { numRuns: 25 },
      );
    }, 300_000);
  });
});

describe('a service that dies between the append and the removal of the timer', () => {
  let database: ReactorDatabase;
  const clock = new TestClock();
  let running: RunningService | undefined;

  beforeAll(async () => {
    const fresh = await freshDatabase();
    database = new ReactorDatabase(fresh.url, fresh.embedded, 10);
    await fresh.close();
  });
  afterAll(async () => {
    await running?.stop();
    await stopEventLogOfThisRun();
    await database.close();
  });

  it('has pruned once when it is back, and goes on with what is due next', async () => {
    const settings = {
      ...(await eventLogSettings()),
      DATABASE_URL: 'postgres://given/test',
      MNEME_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
      MNEME_PORT: '0',
      MNEME_LOG_LEVEL: 'silent',
      MNEME_EMBEDDING_PROVIDER: 'shared_words',
      // The one before is gone for good, and nobody waits for a sign of life.
      MNEME_PROJECTION_LEASE_MS: '1000',
    };
    const begin = () => startService(readConfiguration(settings), { database, clock });
    running = await begin();
    const { url, localOperatorKey, infrastructure } = running;
    const team = await newTeam({ url, operator: new Client(url, localOperatorKey) } as TestService);
    await team.client.patch(`/v1/teams/${team.id}/settings`, { execution_retention_days: 30 });
    const { procedure_id } = await remember(team.client, daysAgo(29));
    await remember(team.client, daysAgo(20));
    await reactorsSettled(infrastructure);

    database.next(...Array<'lost'>(1_000).fill('lost'));
    clock.set(new Date(start + day + hour));
    infrastructure.reactors.wake();
    await until(async () => (await runsAndPrunings(infrastructure)).prunings.length === 1);
    await running.stop();
    database.forgive();

    running = await begin();
    await reactorsSettled(running.infrastructure);
    expect((await runsAndPrunings(running.infrastructure)).prunings).toHaveLength(1);
    clock.set(new Date(start + 11 * day));
    await reactorsSettled(running.infrastructure);
    const { prunings } = await runsAndPrunings(running.infrastructure);
    expect(prunings.map(({ data }) => data.procedure_id)).toEqual([procedure_id, procedure_id]);
  }, 60_000);
});
