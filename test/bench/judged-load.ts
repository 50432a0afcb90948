import type { Codec } from '../../src/event-log/codec.js';
import type { CommandContext } from '../../src/event-log/command-context.js';
import type { DomainEvent } from '../../src/event-log/domain-event.js';
import type { Append, NewEvent } from '../../src/event-log/event-log.js';
import { storedHash } from '../../src/event-log/event-metadata.js';
import { streamName } from '../../src/event-log/stream-name.js';
import type { ProcedureEvent } from '../../src/procedures/procedure.js';

export const team = '0b5c0000-0000-4000-8000-000000000001';

export interface LoadSize {
  readonly events: number;
  readonly procedures: number;
}

/** Shares of the events; the rest are runs. */
const feedbackShare = 0.22;
const pruningShare = 1 / 2000;
const erasureShare = 1 / 10_000;

/** Of the runs keep what was answered, sealed under the procedure's key. */
const answeredShare = 0.6;

interface Run {
  readonly execution: string;
  readonly procedure: string;
  readonly hash: string;
}

/** Numbers from 0 to 1 that are the same in every run (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Runs of procedures and what people said of them, mixed as in life: some procedures run often and most seldom, a run is
 * judged some time after it, verdicts are pruned and procedures erased now and then.
 */
export class JudgedLoad {
  private readonly random = randomNumbers(1);
  private readonly runs: Run[] = [];
  private readonly revisions = new Map<string, { revision: bigint; hash: string }>();
  private readonly erased = new Set<string>();
  private made = 0;

  constructor(
    private readonly codec: Codec,
    private readonly size: LoadSize,
  ) {}

  /** The next appends, one event each; empty at the end. */
  async next(count: number): Promise<Append[]> {
    const appends: Append[] = [];
    while (appends.length < count && this.made < this.size.events) {
      appends.push(await this.one());
      this.made++;
    }
    return appends;
  }

  private one(): Promise<Append> {
    const chance = this.random();
    const judged = chance < feedbackShare ? this.takeRun() : undefined;
    if (judged) return this.feedback(judged);
    const procedure = this.procedure();
    if (chance > 1 - erasureShare && this.erased.size < this.size.procedures / 4) return this.erasure(procedure);
    if (chance > 1 - erasureShare - pruningShare) return this.pruning(procedure);
    return this.run(procedure);
  }

  private async run(procedure: string): Promise<Append> {
    const execution = this.id(0xe);
    const evaluated = this.random();
    const answer = 'It was done as planned, and the customer has been told. '.repeat(1 + Math.floor(this.random() * 8));
    const event = {
      type: 'ExecutionRecorded',
      execution_id: execution,
      procedure_id: procedure,
      agent_success: this.random() < 0.8,
      evaluator_success: evaluated < 0.3 ? evaluated < 0.2 : null,
      ...(this.random() < answeredShare ? { sealed: { answer } } : {}),
    };
    const stream = { kind: 'execution', team, id: execution };
    const [name, encoded, hash] = await this.encode(stream, undefined, event);
    this.runs.push({ execution, procedure, hash });
    return { stream: name, events: encoded, expected: 'no_stream' };
  }

  private async feedback({ execution, procedure, hash }: Run): Promise<Append> {
    const worked = this.random() < 0.7;
    const scores = worked ? { usefulness: 0.8 } : {};
    const event = { type: 'ExecutionFeedbackRecorded', execution_id: execution, procedure_id: procedure, worked, scores };
    const stream = { kind: 'execution', team, id: execution };
    const [name, encoded] = await this.encode(stream, { revision: 0n, hash }, event);
    return { stream: name, events: encoded, expected: 0n };
  }

  private pruning(procedure: string): Promise<Append> {
    const before = new Date(Date.now() - this.random() * 60_000).toISOString();
    return this.ofProcedure(procedure, { type: 'ExecutionsPruned', procedure_id: procedure, before });
  }

  private erasure(procedure: string): Promise<Append> {
    this.erased.add(procedure);
    return this.ofProcedure(procedure, { type: 'ProcedureErased', procedure_id: procedure });
  }

  private async ofProcedure(procedure: string, event: ProcedureEvent): Promise<Append> {
    const last = this.revisions.get(procedure);
    const [name, events, hash] = await this.encode({ kind: 'procedure', team, id: procedure }, last, event);
    this.revisions.set(procedure, { revision: (last?.revision ?? -1n) + 1n, hash });
    return { stream: name, events, expected: last?.revision ?? 'no_stream' };
  }

  private async encode(
    stream: { kind: string; team: string; id: string },
    last: { revision: bigint; hash: string } | undefined,
    event: DomainEvent,
  ): Promise<[name: string, events: NewEvent[], hash: string]> {
    const name = streamName(this.codec.streamPrefix, stream);
    const context: CommandContext = { commandId: this.id(0xc), correlationId: this.id(0xd), team, profile, apiKey };
    const events = await this.codec.encode(name, last, [event], context);
    return [name, events, String(storedHash(events[0]?.metadata ?? '{}'))];
  }

  /** A run that nobody has judged yet, most often a recent one. */
  private takeRun(): Run | undefined {
    const recent = Math.floor(this.runs.length * (1 - this.random() ** 3));
    const [run] = this.runs.splice(Math.min(recent, this.runs.length - 1), 1);
    return run && !this.erased.has(run.procedure) ? run : undefined;
  }

  /** One that still exists; the first ones run most often. */
  private procedure(): string {
    for (;;) {
      const id = procedureId(Math.floor(this.size.procedures * this.random() ** 2));
      if (!this.erased.has(id)) return id;
    }
  }

  private id(kind: number): string {
    const digits = Array.from({ length: 4 }, () =>
      Math.floor(this.random() * 0x1_0000_0000)
        .toString(16)
        .padStart(8, '0'),
    ).join('');
    return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-8${kind.toString(16)}${digits.slice(18, 20)}-${digits.slice(20)}`;
  }
}

const profile = '0b5c0000-0000-4000-8000-0000000000aa';
const apiKey = '0b5c0000-0000-4000-8000-0000000000bb';

/** In no order: ids of procedures are random in life too. */
const procedureId = (number: number): string => {
  const digits = Math.imul(number + 1, 0x9e3779b1) >>> 0;
  return `${digits.toString(16).padStart(8, '0')}-0000-4000-8000-${String(number).padStart(12, '0')}`;
};
