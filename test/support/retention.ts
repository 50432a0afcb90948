import { isPruned, ranAt, type ExecutionEvent } from '../../src/procedures/execution.js';
import type { ProcedureEvent } from '../../src/procedures/procedure.js';
import type { RecordedEvent } from '../../src/event-log/domain-event.js';
import type { Infrastructure } from '../../src/infrastructure.js';
import { until } from './reactor-stage.js';

type Running = Pick<Infrastructure, 'reactors' | 'engine' | 'log' | 'database' | 'clock'>;

/** Until the reactors have reacted to all that is in the log, no timer is due, and reads show what came of it. */
export async function reactorsSettled({ reactors, engine, log, database, clock }: Running): Promise<void> {
  await until(async () => {
    reactors.wake();
    // The timers afterwards: those that follow from the last event are set then.
    const level = (await reactors.status()).every(({ state, lastError }) => state === 'caught_up' && lastError === null);
    const due = await database.query('SELECT FROM mneme.due_timers WHERE due_at <= $1 LIMIT 1', [clock.now()]);
    return level && due.length === 0;
  }, 30_000);
  await engine.waitFor(await log.head(), 10_000, ['judged_counters']);
}

type Pruned = RecordedEvent<Extract<ProcedureEvent, { type: 'ExecutionsPruned' }>>;
type Ran = RecordedEvent<Extract<ExecutionEvent, { type: 'ExecutionRecorded' }>>;

/** What the log says of runs and prunings, all teams together. */
export async function runsAndPrunings({
  log,
  codec,
}: Pick<Infrastructure, 'log' | 'codec'>): Promise<{ runs: Ran[]; prunings: Pruned[] }> {
  const stored = [];
  for await (const event of log.readAll({ after: -1n, prefix: codec.streamPrefix })) stored.push(event);
  const events = await codec.decode(stored, { content: false });
  return {
    runs: events.filter(({ data }) => data.type === 'ExecutionRecorded') as Ran[],
    prunings: events.filter(({ data }) => data.type === 'ExecutionsPruned') as Pruned[],
  };
}

/** Prunings after which no run was pruned that was not before. */
export function idlePrunings({ runs, prunings }: { runs: readonly Ran[]; prunings: readonly Pruned[] }): Pruned[] {
  return prunings.filter(({ data, position }) => {
    const earlier = prunings.filter((other) => other.data.procedure_id === data.procedure_id && other.position < position);
    const pruned = runs.filter(
      (run) =>
        run.data.procedure_id === data.procedure_id &&
        run.position < position &&
        ranAt(run) < new Date(data.before) &&
        !isPruned(run, earlier),
    );
    return pruned.length === 0;
  });
}
