import fc from 'fast-check';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { StoredEvent } from '../../src/event-log/event-log.js';
import { Streams } from '../../src/event-log/streams.js';
import { parseStreamName } from '../../src/event-log/stream-name.js';
import { PastReads } from '../../src/http/as-of.js';
import { Positions } from '../../src/http/positions.js';
import { allProjections, type Infrastructure } from '../../src/infrastructure.js';
import {
  GetProcedure,
  GetProcedureHandler,
  ListProcedures,
  ListProceduresHandler,
} from '../../src/procedures/procedure-queries.handler.js';
import { RecallProcedures, RecallProceduresHandler } from '../../src/procedures/recall-procedures.handler.js';
import {
  TraceExecution,
  TraceExecutionHandler,
  TraceProcedure,
  TraceProcedureHandler,
} from '../../src/procedures/trace-procedure.handler.js';
import type { AsOf } from '../../src/trace/as-of.js';
import { MemoryHistory } from '../../src/trace/memory-history.js';
import { CutLog } from '../support/cut-log.js';
import { type Action, action, play, type Story } from '../support/procedure-story.js';
import { dropReadModels } from '../support/projections.js';
import { newTeam, startTestService, type TestService } from '../support/service.js';

const needed = ['procedures', 'judged_counters', 'event_refs', 'moments'];
const { signal } = new AbortController();

/** Read models made anew of the log up to a position, and the reads over them. */
class Replay {
  private constructor(
    private readonly service: TestService,
    private readonly log: CutLog,
    private readonly engine: ProjectionEngine,
  ) {}

  static async upTo(service: TestService, end: bigint, batchEvents: number): Promise<Replay> {
    const { database, log, codec, embedder, logIdentity } = service.infrastructure;
    await dropReadModels(database);
    const cut = new CutLog(log, end);
    const engine = new ProjectionEngine({
      database,
      log: cut,
      codec,
      logId: logIdentity.logId,
      projections: allProjections.filter(({ name }) => needed.includes(name)),
      embeddingContract: embedder.contract.id,
      batchEvents,
    });
    await engine.start();
    expect(await engine.waitFor(end, 20_000, needed)).toMatchObject({ reached: true });
    return new Replay(service, cut, engine);
  }

  stop(): Promise<void> {
    return this.engine.stop();
  }

  get past(): PastReads {
    const { database, configuration } = this.service.infrastructure;
    return new PastReads(this.positions, this.engine, this.log, database, this.service.clock, configuration);
  }

  get positions(): Positions {
    return new Positions(this.service.infrastructure.logIdentity.logId);
  }

  /** Everything that can be read about procedures, as of a moment or now. */
  async answers(team: string, { procedures, runs }: Story, asOf: AsOf | undefined) {
    const { database, embedder, configuration, metrics, codec } = this.service.infrastructure;
    const recall = new RecallProceduresHandler(database, embedder, this.service.clock, configuration, metrics);
    const list = new ListProceduresHandler(database);
    const get = new GetProcedureHandler(database);
    const histories = new MemoryHistory(database, this.log, codec, this.engine);
    const ofProcedure = new TraceProcedureHandler(histories);
    const ofRun = new TraceExecutionHandler(histories, new Streams(this.log, codec));

    const input = { scope: 'default', question: 'How do I refund an order?', intent: undefined, top: 50, minSimilarity: 0 };
    const all = { team, scope: undefined, status: undefined, intent: undefined, before: undefined, limit: 100 };
    const request = { team, content: true, after: -1n, maxEvents: 500, asOf };
    return {
      recalled: await recall.execute(new RecallProcedures(team, input, signal, asOf)).then(({ matches, ...counts }) => ({
        ...counts,
        matches: matches.map(({ id, score, evidence, row }) => ({ id, score, evidence, status: row.status })),
      })),
      listed: await list.execute(new ListProcedures(all, asOf)),
      active: await list.execute(new ListProcedures({ ...all, status: 'active' }, asOf)),
      got: await Promise.all(procedures.map((id) => found(get.execute(new GetProcedure(team, id, asOf))))),
      traced: await Promise.all(procedures.map((id) => found(ofProcedure.execute(new TraceProcedure({ ...request, id }))))),
      runs: await Promise.all(runs.map((id) => found(ofRun.execute(new TraceExecution({ ...request, id }))))),
    };
  }
}

/** What is found, or that nothing is. */
const found = <T>(reading: Promise<T>): Promise<T | 'not_found'> =>
  reading.catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'not_found') return 'not_found';
    throw error;
  });

type Answers = Awaited<ReturnType<Replay['answers']>>;

/** What was erased later shows as erased at every moment; a log that ends before cannot know. */
const erasedLater = (answers: Answers, erased: ReadonlySet<string>): Answers => ({
  ...answers,
  traced: answers.traced.map((trace) => {
    if (trace === 'not_found' || !erased.has(trace.id)) return trace;
    const counters = { runs: 0, successes: 0, judged_runs: 0, judged_successes: 0, last_run_at: null };
    return { ...trace, state: { status: 'erased', parent_id: null, content: null, counters } };
  }),
});

async function eventsOf({ log, codec }: Infrastructure, team: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix }))
    if (parseStreamName(codec.streamPrefix, event.stream)?.team === team) events.push(event);
  return events;
}

/** Moves recorded times about, as a clock does that is set back and forth. Only a log in PostgreSQL lets us. */
async function skew({ database, configuration }: Infrastructure, seconds: readonly number[]): Promise<void> {
  if (configuration.eventLog.kind !== 'postgres') return;
  await database.query(
    `UPDATE mneme.events SET recorded_at = recorded_at + ($1::int[])[1 + position % $2] * interval '1 second'`,
    [seconds, seconds.length],
  );
}

/** One of each, in an order that makes all of it count: chance rarely prunes what somebody judged. */
const everything: Action[] = [
  { do: 'remember', version: 0, child: false, success: true, review: false, daysAgo: 3 },
  { do: 'feedback', run: 0, worked: true },
  { do: 'run', version: 0, success: true, daysAgo: 1 },
  { do: 'feedback', run: 1, worked: false },
  { do: 'remember', version: 1, child: true, success: false, review: true, daysAgo: 2 },
  { do: 'approve', version: 1 },
  { do: 'prune', version: 0, daysAgo: 2 },
  { do: 'feedback', run: 2, worked: true },
  { do: 'archive', version: 0 },
  { do: 'restore', version: 0 },
  { do: 'remember', version: 2, child: true, success: true, review: true, daysAgo: 0 },
  { do: 'reject', version: 2 },
  { do: 'erase', version: 1 },
  { do: 'run', version: 0, success: false, daysAgo: 0 },
];

describe('whatever was done', () => {
  it('a read of the past gives what a service gives whose log ends there', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(action, { minLength: 3, maxLength: 12 }),
        fc.array(fc.constantFrom(-7_200, -1, 0, 0, 0, 3_600), { minLength: 1, maxLength: 7 }),
        fc.constantFrom(1, 3, 500),
        async (actions, seconds, batchEvents) => {
          const service = await startTestService();
          try {
            const { id: team, ...client } = await newTeam(service);
            const story = await play({ id: team, ...client }, actions);
            await service.infrastructure.engine.stop();
            await skew(service.infrastructure, seconds);
            await compare(service, team, story, batchEvents);
          } finally {
            await service.stop();
          }
        },
      ),
      { numRuns: 5, examples: [[everything, [0, -7_200, 0, -1, 3_600], 3]] },
    );
  }, 240_000);

  async function compare(service: TestService, team: string, story: Story, batchEvents: number): Promise<void> {
    const events = await eventsOf(service.infrastructure, team);
    const erased = new Set(events.filter(({ type }) => type === 'ProcedureErased').map(({ data }) => idIn(data)));
    service.clock.set(new Date(Date.now() + 86_400_000)); // later than all that was recorded, however the log's clock was set
    const whole = await Replay.upTo(service, await service.infrastructure.log.head(), batchEvents);
    const moments = await momentsOf(whole, team, events);
    const then: Answers[] = [];
    for (const asOf of moments) then.push(await whole.answers(team, story, asOf));
    await whole.stop();
    for (const [index, { position, time }] of moments.entries()) {
      const cut = await Replay.upTo(service, position, 500);
      service.clock.set(time ?? new Date(0));
      expect(then[index]).toEqual(erasedLater(await cut.answers(team, story, undefined), erased));
      await cut.stop();
    }
  }

  const idIn = (data: string): string => (JSON.parse(data) as { procedure_id: string }).procedure_id;

  /** The moment of every event's position; each recorded time, and the ends of the millisecond around it, mean one of them. */
  async function momentsOf(replay: Replay, team: string, events: readonly StoredEvent[]): Promise<AsOf[]> {
    const read = { team, projections: [], signal, elapsedMs: 0 };
    const latest: { position: bigint; time: number }[] = [];
    for (const { position, recordedAt } of events)
      latest.push({ position, time: Math.max(latest.at(-1)?.time ?? 0, recordedAt.getTime()) });
    for (const { recordedAt } of events) {
      for (const time of [-1, 0, 1].map((by) => recordedAt.getTime() + by)) {
        const known = latest.filter((moment) => moment.time <= time).at(-1)?.position ?? -1n;
        const asOf = await replay.past.resolve({ known_at: new Date(time).toISOString() }, read);
        expect(asOf).toEqual({ position: known, time: new Date(time) });
      }
    }
    return Promise.all(
      latest.map(async ({ position, time }) => {
        const asOf = await replay.past.resolve({ at_position: replay.positions.token(position) }, read);
        expect(asOf).toEqual({ position, time: new Date(time) });
        return { position, time: new Date(time) };
      }),
    );
  }
});
