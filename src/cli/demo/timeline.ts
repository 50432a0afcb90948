import { printable } from '../output.js';

/** A trace as the service answers it, as far as the timeline shows it. */
export interface TracedMemory {
  readonly kind: string;
  readonly id: string;
  readonly state: {
    readonly status: string;
    readonly counters: { readonly runs: number; readonly successes: number; readonly judged_runs: number };
  };
  readonly events: readonly TracedEvent[];
}

export interface TracedEvent {
  readonly type: string;
  readonly recorded_at: string;
  readonly kind: string;
  readonly id: string;
  readonly revision: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly content: Readonly<Record<string, unknown>> | null;
  readonly redacted: boolean;
}

/** A line for each event: when the log learned it, what happened, in which stream, and what it says. */
export function timelineText({ kind, id, state, events }: TracedMemory): string {
  const { runs, successes, judged_runs } = state.counters;
  return [
    `Trace of ${kind} ${id}, replayed from the event log:`,
    ...events.flatMap((event) => [
      `  ${event.recorded_at}  ${event.type.padEnd(20)}  ${event.kind} ${event.id.slice(0, 8)}, revision ${event.revision}`,
      ...details(event).map((detail) => `      ${detail}`),
    ]),
    `  Now: ${state.status}; ${runs} ${runs === 1 ? 'run' : 'runs'}, ${successes} worked, ${judged_runs} judged by somebody else than the agent`,
  ].join('\n');
}

const shown = ['version', 'parent_id', 'agent_success', 'question', 'graph'] as const;

function details({ data, content, redacted }: TracedEvent): string[] {
  const fields: Record<string, unknown> = { ...data, ...content };
  const lines = shown
    .filter((name) => fields[name] !== undefined && fields[name] !== null)
    .map((name) => `${name}: ${valueText(fields[name])}`);
  return redacted ? [...lines, 'content erased'] : lines;
}

const valueText = (value: unknown): string => printable(typeof value === 'string' ? value : JSON.stringify(value));
