import { randomUUID } from 'node:crypto';
import { ProjectionEngine } from '../../projections/engine/projection-engine.js';
import type { Projection } from '../../projections/engine/projection.js';
import { eventCatalogue } from '../../src/all-events.js';
import type { Database } from '../../src/database/database.js';
import { Codec } from '../../src/event-log/codec.js';
import type { Append, EventLog } from '../../src/event-log/event-log.js';
import type { DomainEvent } from '../../src/event-log/domain-event.js';
import { streamName } from '../../src/event-log/stream-name.js';
import { executionStream, type ExecutionEvent } from '../../src/procedures/execution.js';
import { procedureStream, type ProcedureEvent } from '../../src/procedures/procedure.js';
import { FixedKeys } from './fixed-keys.js';

export interface ProcedureLogOptions {
  readonly team: string;
  readonly scope: string;
  readonly procedures: number;
  /** Of each procedure; every second one is judged by a person. */
  readonly runs: number;
}

const streamPrefix = 'mneme_';
/** Streams that are encoded and appended together. */
const batchStreams = 1_000;
/** Every so-manieth procedure is archived, improves on the one before, or has an intent. */
const every = { archived: 20, child: 3, intent: 4 };

/** Many procedures with their runs, written straight to the log: over HTTP, ten thousand would take minutes. */
export class ProcedureLog {
  readonly keys = new FixedKeys();
  readonly codec = new Codec(eventCatalogue, this.keys, streamPrefix);

  constructor(private readonly log: EventLog) {}

  /** @returns ids of the procedures, in the order they were remembered */
  async fill({ team, scope, procedures, runs }: ProcedureLogOptions): Promise<string[]> {
    const ids = Array.from({ length: procedures }, () => randomUUID());
    const streams = ids.flatMap((id, index) => [
      { ...procedureStream(team, id), events: procedureEventsOf(id, index, scope, ids[index - 1]) },
      ...Array.from({ length: runs }, (_, run) => runOf(team, id, index + run)),
    ]);
    for (let from = 0; from < streams.length; from += batchStreams) {
      const appends = await Promise.all(streams.slice(from, from + batchStreams).map((stream) => this.append(stream)));
      for (const outcome of await this.log.appendMany(appends)) if ('error' in outcome) throw outcome.error;
    }
    return ids;
  }

  private async append({ events, ...id }: ReturnType<typeof runOf> | StreamOfProcedure): Promise<Append> {
    const stream = streamName(streamPrefix, id);
    const commandId = randomUUID();
    const context = { commandId, correlationId: commandId, team: id.team };
    return { stream, events: await this.codec.encode(stream, undefined, events, context), expected: 'no_stream' };
  }
}

type StreamOfProcedure = ReturnType<typeof procedureStream> & { readonly events: readonly DomainEvent[] };

function procedureEventsOf(procedure_id: string, index: number, scope: string, before: string | undefined): ProcedureEvent[] {
  const remembered: ProcedureEvent = {
    type: 'ProcedureRemembered',
    procedure_id,
    parent_id: index % every.child === 0 ? (before ?? null) : null,
    status: 'active',
    based_on: [],
    sealed: {
      scope,
      question: `How do I do the thing number ${index}?`,
      intent: index % every.intent === 0 ? 'refund' : null,
      graph: { steps: ['find the order', `check its state ${index}`, 'refund it', 'tell the customer'] },
      version: '1.0',
    },
  };
  return index % every.archived === 0 ? [remembered, { type: 'ProcedureArchived', procedure_id }] : [remembered];
}

function runOf(team: string, procedure_id: string, index: number) {
  const execution_id = randomUUID();
  const recorded: ExecutionEvent = {
    type: 'ExecutionRecorded',
    execution_id,
    procedure_id,
    agent_success: index % 5 !== 0,
    evaluator_success: null,
  };
  const judged: ExecutionEvent = {
    type: 'ExecutionFeedbackRecorded',
    execution_id,
    procedure_id,
    worked: index % 4 !== 0,
    scores: {},
  };
  return { ...executionStream(team, execution_id), events: index % 2 === 0 ? [recorded, judged] : [recorded] };
}

/** Builds these read models from the log, as a service does, and leaves them with statistics. */
export async function projectAll(
  database: Database,
  { log, codec, projections }: { log: EventLog; codec: Codec; projections: readonly Projection[] },
): Promise<void> {
  const engine = new ProjectionEngine({ database, log, codec, logId: 'log-of-procedures', projections });
  await engine.start();
  try {
    const { reached } = await engine.waitFor(await log.head(), 120_000, []);
    if (!reached) throw new Error('the read models did not become level with the log');
  } finally {
    await engine.stop();
  }
  await database.query('ANALYZE');
}

/** Gives every procedure a vector of this contract, from -0.5 to 0.5 in every dimension and the same in every run. */
export async function fillVectors(
  database: Database,
  { contract, dimensions }: { contract: string; dimensions: number },
): Promise<void> {
  await database.as('mneme_projector', async (queries) => {
    await queries.query('SELECT setseed(0.5)');
    // The condition on the row makes the numbers new for each of them.
    await queries.execute(
      `UPDATE mneme_read.procedure_vectors v SET contract = $1, embedding =
         (SELECT array_agg(random()::real - 0.5)::vector FROM generate_series(1, $2::int) WHERE v.position IS NOT NULL)`,
      [contract, dimensions],
    );
  });
  await database.query('VACUUM ANALYZE');
}
