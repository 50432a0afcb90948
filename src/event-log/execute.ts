import { setTimeout as sleep } from 'node:timers/promises';
import type { CommandContext } from './command-context.js';
import type { DomainEvent, EventMetadata, RecordedEvent } from './domain-event.js';
import { isWrongExpectedRevision } from './errors.js';
import type { StreamId } from './stream-name.js';
import type { LoadedStream, Streams } from './streams.js';

/** Why a decider says no. */
export interface Refusal {
  readonly refused: string;
  /** Field of the command at fault. */
  readonly field?: string;
}

export type Decision<Event extends DomainEvent> = readonly Event[] | Refusal;

/** Who asks for a command, and what they saw before they asked. */
export interface CommandRequest {
  readonly context: CommandContext;
  /** Revision the caller saw last; left out when any will do. */
  readonly expectedRevision?: bigint;
}

export interface Command<Event extends DomainEvent> extends CommandRequest {
  readonly stream: StreamId;
  /** Pure, because a lost race asks it again. No events means that it is already so. */
  readonly decide: (events: RecordedEvent<Event>[]) => Decision<Event> | Promise<Decision<Event>>;
  readonly occurredAt?: Date;
  /** How long lost races are made up for, milliseconds; 15 seconds unless a test says otherwise. */
  readonly patienceMs?: number;
}

/** Where a command's outcome stands in the log. */
export interface Written {
  /** Of the outcome's last event, or of the stream's last event when nothing changed; -1 when there is none. */
  readonly position: bigint;
  readonly revision: bigint | 'no_stream';
}

export interface CommandResult<Event extends DomainEvent> extends Written {
  /** `repeated`: the command ran before, and this is what it did then. */
  readonly outcome: 'appended' | 'repeated' | 'unchanged';
  /** The new events, or those of the first run; empty when unchanged. */
  readonly events: Event[];
}

/** The decider refused. `code` is the decider's own. */
export class CommandRefused extends Error {
  constructor(
    readonly code: string,
    readonly field?: string,
  ) {
    super(`the command was refused: ${code}`);
  }
}

/** The stream is not at the revision that the caller expected. */
export class VersionConflict extends Error {
  readonly code = 'version_conflict';

  constructor(readonly current: bigint | 'no_stream') {
    super(`the current version is ${current}`);
  }
}

/** Others kept appending to the stream first; nothing was stored, try again later. */
export class CommandContended extends Error {
  readonly code = 'command_contended';

  constructor() {
    super('other commands were faster until patience was over');
  }
}

export const isCommandRefused = (error: unknown): error is CommandRefused => error instanceof CommandRefused;
export const isVersionConflict = (error: unknown): error is VersionConflict => error instanceof VersionConflict;
export const isCommandContended = (error: unknown): error is CommandContended => error instanceof CommandContended;

/**
 * How long a command goes on after lost races, milliseconds, and its longest pause in between. Ten attempts were not enough
 * for 24 writers of one stream: each round has one winner, so the unluckiest needs about as many rounds as there are writers.
 */
const patienceMs = 15_000;
const longestPauseMs = 60;

/**
 * Runs one command on one stream: what it did before is answered as before, else it is decided and appended. After a lost
 * race everything is asked anew, the cause first: the winner may have been this very command, sent twice.
 *
 * @throws CommandRefused, VersionConflict, CommandContended, and what `Streams.load` and `Streams.append` throw
 */
export async function executeCommand<Event extends DomainEvent>(
  streams: Streams,
  command: Command<Event>,
): Promise<CommandResult<Event>> {
  const deadline = performance.now() + (command.patienceMs ?? patienceMs);
  for (let attempt = 1; ; attempt += 1) {
    const stream = await streams.load<Event>(command.stream);
    const settled = alreadyRun(stream, command.context) ?? (await decideAndAppend(streams, stream, command));
    if (settled) return settled;
    if (performance.now() > deadline) throw new CommandContended();
    await sleep(Math.random() * Math.min(5 * attempt, longestPauseMs));
  }
}

/**
 * Whoever finds a command's own events answers with what it did then, so the request has to be the one of then. The command
 * table says so first, but its row may be missing: it is written after the append, and not kept for ever.
 *
 * @throws CommandRefused `idempotency_key_reused`; never for events that no fingerprint was kept with
 */
export function refuseAnotherRequest({ fingerprint }: EventMetadata, context: CommandContext): void {
  if (fingerprint !== undefined && context.fingerprint !== undefined && fingerprint !== context.fingerprint)
    throw new CommandRefused('idempotency_key_reused', 'Idempotency-Key');
}

/** @throws CommandRefused `idempotency_key_reused` */
function alreadyRun<Event extends DomainEvent>(
  { events }: LoadedStream<Event>,
  context: CommandContext,
): CommandResult<Event> | undefined {
  const earlier = events.filter(({ metadata }) => metadata.causationId === context.commandId);
  const last = earlier.at(-1);
  if (!last) return undefined;
  refuseAnotherRequest(last.metadata, context);
  return { outcome: 'repeated', events: earlier.map(({ data }) => data), revision: last.revision, position: last.position };
}

/** Undefined after a lost race. */
async function decideAndAppend<Event extends DomainEvent>(
  streams: Streams,
  stream: LoadedStream<Event>,
  { context, expectedRevision, decide, occurredAt }: Command<Event>,
): Promise<CommandResult<Event> | undefined> {
  if (expectedRevision !== undefined && stream.revision !== expectedRevision) throw new VersionConflict(stream.revision);
  const decision = await decide(stream.events);
  if ('refused' in decision) throw new CommandRefused(decision.refused, decision.field);
  if (decision.length === 0) {
    return { outcome: 'unchanged', events: [], revision: stream.revision, position: stream.events.at(-1)?.position ?? -1n };
  }
  try {
    const appended = await streams.append(stream, decision, context, occurredAt);
    return { outcome: 'appended', events: [...decision], ...appended };
  } catch (error) {
    if (!isWrongExpectedRevision(error)) throw error;
    return undefined;
  }
}
