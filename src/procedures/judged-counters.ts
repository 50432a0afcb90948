import type { RecordedEvent } from '../event-log/domain-event.js';
import type { JudgedCounters } from '../ranking/procedure-score.js';
import {
  evolveExecution,
  type Execution,
  type ExecutionEvent,
  noExecution,
  ranAt,
  type RecordedExecution,
  verdictOf,
} from './execution.js';
import type { ProcedureEvent } from './procedure.js';

interface CountedRun {
  readonly run: RecordedExecution;
  readonly recorded: RecordedEvent<ExecutionEvent>;
  readonly pruned: boolean;
}

/**
 * The counters of one procedure, from its events and those of its runs in position order: how the counters of the read
 * model came about, told from the log. Pruned runs count as runs and successes, and as nobody's judgement.
 */
export function judgedCountersOf(events: readonly RecordedEvent<ProcedureEvent | ExecutionEvent>[]): JudgedCounters {
  const runs = [...events.reduce(countEvent, new Map<string, CountedRun>()).values()];
  const verdicts = runs.map(({ run, pruned }) => ({ ...verdictOf(run), pruned }));
  const judged = verdicts.filter((verdict) => verdict.judged && !verdict.pruned);
  return {
    runs: runs.length,
    successes: verdicts.filter(({ success }) => success).length,
    judged_runs: judged.length,
    judged_successes: judged.filter(({ success }) => success).length,
    last_run_at: runs
      .map(({ recorded }) => ranAt(recorded))
      .reduce<Date | null>((last, at) => (last && last > at ? last : at), null),
  };
}

function countEvent(
  runs: Map<string, CountedRun>,
  event: RecordedEvent<ProcedureEvent | ExecutionEvent>,
): Map<string, CountedRun> {
  const { data } = event;
  switch (data.type) {
    case 'ExecutionRecorded':
    case 'ExecutionFeedbackRecorded': {
      const before = runs.get(data.execution_id);
      if (before?.pruned) return runs;
      const run: Execution = evolveExecution(before?.run ?? noExecution, data);
      const recorded = before?.recorded ?? (event as RecordedEvent<ExecutionEvent>);
      return run.status === 'none' ? runs : runs.set(data.execution_id, { run, recorded, pruned: false });
    }
    case 'ExecutionsPruned':
      for (const [id, counted] of runs) {
        if (ranAt(counted.recorded) < new Date(data.before)) runs.set(id, { ...counted, pruned: true });
      }
      return runs;
    case 'ProcedureErased':
      runs.clear();
      return runs;
    default:
      return runs;
  }
}
